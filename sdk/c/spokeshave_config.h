/* The policy's configuration, a JSON object, read once by SS_CONFIGURE. */
#ifndef SPOKESHAVE_CONFIG_H
#define SPOKESHAVE_CONFIG_H

#include "spokeshave_session.h"

typedef enum { SS_NULL_, SS_BOOLEAN_, SS_NUMBER_, SS_TEXT_, SS_LIST_, SS_OBJECT_ } ss_kind_;

/* ss_value_ is a JSON value; those of a list or object are chained. */
typedef struct ss_value_ {
  ss_kind_ kind;
  bool read;
  uint32_t count;
  double number; /* 1 for true */
  ss_text key, text;
  struct ss_value_ *first, *next;
} ss_value_;

/* ss_config is what SS_CONFIGURE gets. A getter gives the fallback for a key
 * that is absent; a value of the wrong type and a key that nobody reads are
 * errors, which are reported to the author. */
typedef struct { ss_value_ *root; ss_line wrong, error; } ss_config;

typedef struct { const ss_text *at; uint32_t count; } ss_texts;
typedef struct { const ss_text *keys; const double *values; uint32_t count; } ss_numbers;

/* ---- JSON -------------------------------------------------------------- */

typedef struct { const char *at, *end; } ss_json_;

SS_COLD char ss_peek_(ss_json_ *p) {
  while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n')) p->at++;
  return p->at < p->end ? *p->at : 0;
}

SS_COLD bool ss_accept_(ss_json_ *p, char c) {
  if (ss_peek_(p) != c) return false;
  p->at++;
  return true;
}

SS_COLD bool ss_unit_(ss_json_ *p, uint32_t *unit) {
  if (p->end - p->at < 4) return false;
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    char c = *p->at++;
    uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10) : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10) : 99;
    if (digit > 15) return false;
    *unit = *unit << 4 | digit;
  }
  return true;
}

SS_COLD uint32_t ss_utf8_(char *to, uint32_t r) {
  if (r < 0x80) return to[0] = (char)r, 1;
  if (r < 0x800) return to[0] = (char)(0xc0 | r >> 6), to[1] = (char)(0x80 | (r & 63)), 2;
  if (r < 0x10000) return to[0] = (char)(0xe0 | r >> 12), to[1] = (char)(0x80 | (r >> 6 & 63)), to[2] = (char)(0x80 | (r & 63)), 3;
  return to[0] = (char)(0xf0 | r >> 18), to[1] = (char)(0x80 | (r >> 12 & 63)), to[2] = (char)(0x80 | (r >> 6 & 63)), to[3] = (char)(0x80 | (r & 63)), 4;
}

/* ss_escape_ decodes what follows a backslash; a decoded text is never longer. */
SS_COLD bool ss_escape_(ss_json_ *p, char *to, uint32_t *size) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  if (p->at >= p->end) return false;
  char c = *p->at++;
  for (int i = 0; from[i]; i++)
    if (c == from[i]) return to[(*size)++] = into[i], true;
  uint32_t r, low;
  if (c != 'u' || !ss_unit_(p, &r)) return false;
  if (r >= 0xd800 && r < 0xe000) {
    if (p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u') {
      p->at += 2;
      if (!ss_unit_(p, &low)) return false;
      r = r < 0xdc00 && low >= 0xdc00 && low < 0xe000 ? (r - 0xd800) << 10 | (low - 0xdc00) : 0xfffd - 0x10000;
      r += 0x10000;
    } else {
      r = 0xfffd;
    }
  }
  *size += ss_utf8_(to + *size, r);
  return true;
}

SS_COLD bool ss_json_text_(ss_json_ *p, ss_text *out) {
  const char *quote = ++p->at;
  while (quote < p->end && *quote != '"') quote += *quote == '\\' ? 2 : 1;
  if (quote >= p->end) return false;
  char *to = (char *)ss_keep((uint32_t)(quote - p->at) + 4);
  if (!to) return false;
  uint32_t size = 0;
  while (*p->at != '"') {
    char c = *p->at++;
    if ((uint8_t)c < ' ') return false;
    if (c != '\\') to[size++] = c;
    else if (!ss_escape_(p, to, &size)) return false;
  }
  p->at++;
  *out = (ss_text){to, size};
  return true;
}

/* ss_json_number_ is exact for up to 15 digits and exponents up to 22. */
SS_COLD bool ss_json_number_(ss_text w, double *out) {
  uint32_t i = 0;
  uint64_t mantissa = 0;
  int32_t exponent = 0, given = 0;
  bool minus = w.size && w.data[0] == '-' ? (i++, true) : false, point = false, digits = false, less = false;
  for (; i < w.size && ((w.data[i] >= '0' && w.data[i] <= '9') || (w.data[i] == '.' && !point)); i++) {
    if (w.data[i] == '.') {
      point = true;
      continue;
    }
    digits = true;
    if (mantissa < 100000000000000000ull) mantissa = mantissa * 10 + (uint64_t)(w.data[i] - '0'), exponent -= point;
    else exponent += !point;
  }
  if (!digits) return false;
  if (i < w.size && (w.data[i] == 'e' || w.data[i] == 'E')) {
    i++;
    if (i < w.size && (w.data[i] == '+' || w.data[i] == '-')) less = w.data[i++] == '-';
    if (i >= w.size) return false;
    for (; i < w.size && w.data[i] >= '0' && w.data[i] <= '9'; i++)
      if (given < 1000) given = given * 10 + (w.data[i] - '0');
    exponent += less ? -given : given;
  }
  double x = (double)mantissa, scale = 1;
  if (mantissa == 0) exponent = 0;
  for (int32_t n = exponent < 0 ? -exponent : exponent; n > 0; n--) scale *= 10;
  if (exponent < 0) x /= scale;
  else x *= scale;
  *out = minus ? -x : x;
  return i == w.size;
}

SS_COLD bool ss_json_value_(ss_json_ *p, ss_value_ *v, int depth) {
  char open = ss_peek_(p);
  if (depth > 32) return false;
  if (open == '"') return v->kind = SS_TEXT_, ss_json_text_(p, &v->text);
  if (open == '{' || open == '[') {
    char close = open == '{' ? '}' : ']';
    v->kind = open == '{' ? SS_OBJECT_ : SS_LIST_;
    p->at++;
    if (ss_accept_(p, close)) return true;
    for (ss_value_ **to = &v->first;; to = &(*to)->next) {
      if (!(*to = (ss_value_ *)ss_keep(sizeof **to))) return false;
      v->count++;
      if (open == '{' && (ss_peek_(p) != '"' || !ss_json_text_(p, &(*to)->key) || !ss_accept_(p, ':'))) return false;
      if (!ss_json_value_(p, *to, depth + 1)) return false;
      if (ss_accept_(p, close)) return true;
      if (!ss_accept_(p, ',')) return false;
    }
  }
  ss_text w = {p->at, 0};
  while (p->at < p->end && (uint8_t)*p->at > ' ' && *p->at != ',' && *p->at != ']' && *p->at != '}' && *p->at != ':') p->at++;
  w.size = (uint32_t)(p->at - w.data);
  if (ss_is(w, "null")) return true;
  if (ss_is(w, "true") || ss_is(w, "false")) return v->kind = SS_BOOLEAN_, v->number = w.data[0] == 't', true;
  return v->kind = SS_NUMBER_, ss_json_number_(w, &v->number);
}

/* ---- Getters ----------------------------------------------------------- */

SS_COLD void ss_wrong_(ss_config *c, ss_text key, ss_kind_ want) {
  static const char *const names[] = {"null", "a truth value", "a number", "a text", "a list of texts", "an object"};
  if (c->wrong.size) return;
  ss_add(&c->wrong, "config."), ss_add_text(&c->wrong, key), ss_add(&c->wrong, ": not "), ss_add(&c->wrong, names[want]);
}

SS_COLD const ss_value_ *ss_get_(ss_config *c, const char *key, ss_kind_ want) {
  for (ss_value_ *v = c->root->first; v; v = v->next) {
    if (!ss_is(v->key, key)) continue;
    v->read = true;
    if (v->kind == want) return v;
    ss_wrong_(c, v->key, want);
    return NULL;
  }
  return NULL;
}

SS_COLD double ss_config_float(ss_config *c, const char *key, double fallback) {
  const ss_value_ *v = ss_get_(c, key, SS_NUMBER_);
  return v ? v->number : fallback;
}

SS_COLD ss_text ss_config_string(ss_config *c, const char *key, const char *fallback) {
  const ss_value_ *v = ss_get_(c, key, SS_TEXT_);
  return v ? v->text : ss_text_of(fallback);
}

SS_COLD bool ss_config_bool(ss_config *c, const char *key, bool fallback) {
  const ss_value_ *v = ss_get_(c, key, SS_BOOLEAN_);
  return v ? v->number != 0 : fallback;
}

/* ss_config_strings is a list of texts, empty when the key is absent. */
SS_COLD ss_texts ss_config_strings(ss_config *c, const char *key) {
  const ss_value_ *v = ss_get_(c, key, SS_LIST_);
  if (!v) return (ss_texts){NULL, 0};
  ss_text *at = (ss_text *)ss_keep(v->count * (uint32_t)sizeof *at);
  uint32_t n = 0;
  for (const ss_value_ *item = v->first; item && at; item = item->next) {
    if (item->kind != SS_TEXT_) {
      ss_wrong_(c, ss_text_of(key), SS_LIST_);
      return (ss_texts){NULL, 0};
    }
    at[n++] = item->text;
  }
  return (ss_texts){at, n};
}

/* ss_config_floats is an object whose values are numbers, empty when the key
 * is absent. */
SS_COLD ss_numbers ss_config_floats(ss_config *c, const char *key) {
  const ss_value_ *v = ss_get_(c, key, SS_OBJECT_);
  if (!v) return (ss_numbers){NULL, NULL, 0};
  ss_text *keys = (ss_text *)ss_keep(v->count * (uint32_t)sizeof *keys);
  double *values = (double *)ss_keep(v->count * (uint32_t)sizeof *values);
  uint32_t n = 0;
  for (const ss_value_ *item = v->first; item && keys && values; item = item->next, n++) {
    if (item->kind != SS_NUMBER_) {
      ss_wrong_(c, ss_text_of(key), SS_OBJECT_);
      return (ss_numbers){NULL, NULL, 0};
    }
    keys[n] = item->key, values[n] = item->number;
  }
  return (ss_numbers){keys, values, n};
}

/* ss_config_error refuses the configuration, for a reason of your own. */
SS_COLD void ss_config_error(ss_config *c, const char *why) {
  if (!c->error.size) ss_add(&c->error, why);
}

/* ss_has says whether a list has a text. */
SS_FN bool ss_has(ss_texts list, ss_text t) {
  for (uint32_t i = 0; i < list.count; i++)
    if (ss_equal(list.at[i], t)) return true;
  return false;
}

/* ss_number is the value of a key, or the fallback. */
SS_FN double ss_number(ss_numbers map, ss_text key, double fallback) {
  for (uint32_t i = 0; i < map.count; i++)
    if (ss_equal(map.keys[i], key)) return map.values[i];
  return fallback;
}

/* ---- Setup block ------------------------------------------------------- */

typedef struct {
  char magic[4];
  uint16_t minor, hooks;
  uint32_t total, strides[8];
  ss_span config, message;
  uint32_t zero_;
} ss_setup_;
_Static_assert(sizeof(ss_setup_) == SS_SETUP_SIZE, "wire size");

/* A wrong type explains more than an unknown key, and that more than what the
 * policy itself says. */
SS_COLD void ss_verdict_(ss_config *c) {
  const ss_value_ *unknown = NULL;
  for (const ss_value_ *v = c->root->first; v; v = v->next) {
    if (v->read) continue;
    uint32_t i = 0;
    while (unknown && i < v->key.size && i < unknown->key.size && v->key.data[i] == unknown->key.data[i]) i++;
    if (!unknown || i == v->key.size || (i < unknown->key.size && (uint8_t)v->key.data[i] < (uint8_t)unknown->key.data[i])) unknown = v;
  }
  if (c->wrong.size || !unknown) return;
  ss_add(&c->wrong, "config."), ss_add_text(&c->wrong, unknown->key), ss_add(&c->wrong, ": unknown key");
}

SS_COLD int32_t ss_setup_run_(uint8_t *ptr, uint32_t size, void (*configure)(ss_config *)) {
  const ss_setup_ *s = (const ss_setup_ *)ptr;
  if (!ptr || ptr != ss_memory_.buffer || size > ss_memory_.room || size < sizeof *s) return SS_REFUSED;
  if (s->magic[0] != 'S' || s->magic[1] != 'S' || s->magic[2] != 'C' || s->magic[3] != '1' || s->total < sizeof *s || s->total > size) return SS_REFUSED;
  if ((uint64_t)s->config.offset + s->config.size > s->total || (uint64_t)s->message.offset + s->message.size > s->total) return SS_REFUSED;
  static ss_config c;
  static ss_value_ root;
  ss_json_ p = {(const char *)ptr + s->config.offset, (const char *)ptr + s->config.offset + s->config.size};
  c.root = &root;
  if (s->config.size && (!ss_json_value_(&p, &root, 0) || ss_peek_(&p))) ss_add(&c.wrong, "config: not JSON");
  else if (root.kind != SS_NULL_ && root.kind != SS_OBJECT_) ss_add(&c.wrong, "config: not an object");
  else configure(&c), ss_verdict_(&c);
  const ss_line *said = c.wrong.size ? &c.wrong : &c.error;
  if (!said->size) return SS_ANSWERED;
  uint32_t *area = (uint32_t *)(ptr + s->message.offset);
  if (s->message.size < 8 + said->size) return SS_REFUSED;
  area[0] = (8 + said->size + 3) & ~3u, area[1] = said->size;
  __builtin_memcpy(area + 2, said->text, said->size);
  return SS_REFUSED;
}

/* SS_CONFIGURE(config) { … } reads the configuration, once, before any
 * question. A policy without it refuses any configuration. */
#define SS_CONFIGURE(config)                                                              \
  static void ss_configure_(ss_config *);                                                 \
  SS_EXPORT_("spokeshave_configure") int32_t ss_export_configure_(uint8_t *p, uint32_t n) { \
    return ss_setup_run_(p, n, ss_configure_);                                            \
  }                                                                                       \
  static void ss_configure_(ss_config *config)

#endif
