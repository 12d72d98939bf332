/* Texts: views of UTF-8, and lines put together for reasons and logs. */
#ifndef SPOKESHAVE_TEXT_H
#define SPOKESHAVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SS_FN __attribute__((unused)) static inline
/* What runs once, or seldom, is made for size. */
#define SS_COLD __attribute__((unused, noinline, minsize)) static
#define SS_EXPORT_(name) __attribute__((export_name(name), used))

/* What the compiler makes of copies; there is no C library. */
__attribute__((weak)) void *memcpy(void *restrict to, const void *restrict from, size_t n) { return __builtin_memcpy(to, from, n); }
__attribute__((weak)) void *memset(void *to, int c, size_t n) { return __builtin_memset(to, c, n); }

/* ss_text is UTF-8 without a zero at its end. */
typedef struct { const char *data; uint32_t size; } ss_text;

SS_FN ss_text ss_text_of(const char *literal) {
  uint32_t n = 0;
  while (literal[n]) n++;
  return (ss_text){literal, n};
}

SS_FN bool ss_equal(ss_text a, ss_text b) {
  if (a.size != b.size) return false;
  for (uint32_t i = 0; i < a.size; i++)
    if (a.data[i] != b.data[i]) return false;
  return true;
}

/* ss_is compares with a literal, ss_begins and ss_ends its start and end. */
SS_FN bool ss_is(ss_text t, const char *literal) { return ss_equal(t, ss_text_of(literal)); }
SS_FN bool ss_begins(ss_text t, ss_text start) { return t.size >= start.size && ss_equal((ss_text){t.data, start.size}, start); }
SS_FN bool ss_ends(ss_text t, ss_text end) { return t.size >= end.size && ss_equal((ss_text){t.data + (t.size - end.size), end.size}, end); }

/* ss_line collects a text of at most SS_MAX_MESSAGE bytes; what does not fit is
 * dropped. ss_line line = {0}; ss_add(&line, "price "); ss_add_number(&line, p, 4);
 * ss_exclude(out, i, line.text). */
typedef struct { char text[SS_MAX_MESSAGE + 1]; uint32_t size; } ss_line;

SS_COLD void ss_add_text(ss_line *line, ss_text t) {
  for (uint32_t i = 0; i < t.size && line->size < SS_MAX_MESSAGE; i++) line->text[line->size++] = t.data[i];
  line->text[line->size] = 0;
}

SS_COLD void ss_add(ss_line *line, const char *literal) { ss_add_text(line, ss_text_of(literal)); }

/* ss_add_number adds a number with at most 9 decimals; beyond 1e15 and for
 * what is not a number it adds a question mark. */
SS_COLD void ss_add_number(ss_line *line, double x, uint32_t decimals) {
  if (!(x > -1e15 && x < 1e15)) {
    ss_add(line, "?");
    return;
  }
  if (x < 0) ss_add(line, "-"), x = -x;
  uint64_t scale = 1;
  if (decimals > 9) decimals = 9;
  for (uint32_t i = 0; i < decimals; i++) scale *= 10;
  uint64_t whole = (uint64_t)x, part = (uint64_t)((x - (double)whole) * (double)scale + 0.5);
  if (part >= scale) whole++, part -= scale;
  char digits[32];
  uint32_t at = sizeof digits;
  for (uint32_t i = 0; i < decimals; i++, part /= 10) digits[--at] = (char)('0' + part % 10);
  if (decimals) digits[--at] = '.';
  do digits[--at] = (char)('0' + whole % 10);
  while (whole /= 10);
  ss_add_text(line, (ss_text){digits + at, (uint32_t)sizeof digits - at});
}

__attribute__((import_module("spokeshave_v1"), import_name("log"))) void ss_log_(int32_t level, const char *text, uint32_t size);

/* ss_log writes a line to the controller's log, 8 KiB a call at most. */
SS_FN void ss_log(const char *text) { ss_log_(0, text, ss_text_of(text).size); }

#endif
