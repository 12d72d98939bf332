/* The batch being answered: memory, strings, labels, reasons, status. */
#ifndef SPOKESHAVE_SESSION_H
#define SPOKESHAVE_SESSION_H

#include "spokeshave_text.h"

/* ---- Memory ------------------------------------------------------------ */

extern uint8_t __heap_base;

/* The batch's buffer, and where the rest of the memory begins. */
static struct { uint8_t *buffer; uint32_t room; uintptr_t top; } ss_memory_;

#define SS_MAX_BATCH_ (12u << 20)

/* ss_keep gives zeroed memory for as long as the module lives, 16-aligned; NULL
 * when there is none left. It is never given back: use it in SS_CONFIGURE. */
SS_COLD void *ss_keep(uint32_t size) {
  uintptr_t at = ss_memory_.top ? ss_memory_.top : ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
  uint64_t end = ((uint64_t)at + size + 15) & ~(uint64_t)15, have = (uint64_t)__builtin_wasm_memory_size(0) << 16;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == (size_t)-1) return NULL;
  ss_memory_.top = (uintptr_t)end;
  return (void *)at;
}

SS_EXPORT_("spokeshave_abi_v1") int32_t ss_export_version_(void) { return SS_MINOR; }

SS_EXPORT_("spokeshave_alloc") uint8_t *ss_export_alloc_(uint32_t size) {
  if (size > SS_MAX_BATCH_) return NULL;
  if (ss_memory_.room < size) {
    uint32_t room = size + size / 4 + 64;
    if (ss_memory_.buffer && ss_memory_.buffer + ss_memory_.room == (uint8_t *)ss_memory_.top)
      ss_memory_.top = (uintptr_t)ss_memory_.buffer; /* the last one: grow in place */
    uint8_t *at = (uint8_t *)ss_keep(room);
    if (!at) at = (uint8_t *)ss_keep(size);
    if (!at) return NULL;
    ss_memory_.buffer = at;
    ss_memory_.room = (uint32_t)(ss_memory_.top - (uintptr_t)at);
  }
  return ss_memory_.buffer;
}

/* ---- Batch ------------------------------------------------------------- */

typedef struct { uint32_t offset, size, count, stride; } ss_section;
typedef struct { uint32_t offset, size; } ss_span;

/* ss_header is the start of every batch. time is in nanoseconds since 1970,
 * UTC; time and seed are the only ones there are. Ids of types, families and
 * zones stay the same while generation does, unless it is 0. */
typedef struct {
  char magic[4];
  uint16_t minor, hook;
  uint32_t total, zero_;
  int64_t time;
  uint64_t generation, seed;
  ss_section pool, rows, index;
  ss_span bytes;
  ss_section out;
  ss_span message, pairs;
} ss_header;
_Static_assert(sizeof(ss_header) == SS_HEADER_SIZE, "wire size");

/* ss_batch is the batch being answered: ss_batch.head->time, for example. */
static struct {
  uint8_t *base;
  const ss_header *head;
  uint32_t reasons_[8], next_;
  bool failed_, silent_;
} ss_batch;

SS_COLD bool ss_inside_(ss_span s) {
  return s.size == 0 || (s.offset >= SS_HEADER_SIZE && s.offset % SS_ALIGN == 0 && (uint64_t)s.offset + s.size <= ss_batch.head->total);
}

SS_COLD bool ss_holds_(ss_section s, uint32_t stride) {
  return ss_inside_((ss_span){s.offset, s.size}) &&
         (s.count == 0 || (s.stride >= stride && s.stride % 8 == 0 && (uint64_t)s.count * s.stride <= s.size));
}

SS_FN uint32_t ss_used_(void) { return *(uint32_t *)(ss_batch.base + ss_batch.head->message.offset); }

SS_FN void ss_reset_messages_(void) {
  if (ss_batch.head->message.size >= 4) *(uint32_t *)(ss_batch.base + ss_batch.head->message.offset) = 4;
}

SS_COLD bool ss_open_(uint8_t *ptr, uint32_t size, uint16_t hook) {
  const ss_header *h = (const ss_header *)ptr;
  if (!ptr || ptr != ss_memory_.buffer || size > ss_memory_.room || size < SS_HEADER_SIZE) return false;
  if (h->magic[0] != 'S' || h->magic[1] != 'S' || h->magic[2] != 'V' || h->magic[3] != '1') return false;
  if (h->hook != hook || h->total > size || h->total < SS_HEADER_SIZE) return false;
  ss_batch.base = ptr, ss_batch.head = h;
  uint32_t pool = 0, row = SS_CANDIDATE_STRIDE;
  if (hook == SS_HOOK_RANK) pool = SS_POOL_STRIDE, row = SS_RANK_STRIDE;
  if (hook == SS_HOOK_CEILING) pool = SS_SCOPE_STRIDE, row = SS_LAUNCH_STRIDE;
  if (!ss_holds_(h->pool, pool) || !ss_holds_(h->rows, row) || !ss_holds_(h->out, SS_RANK_OUT_STRIDE)) return false;
  if (!ss_holds_(h->index, SS_INDEX_STRIDE) || !ss_inside_(h->bytes) || !ss_inside_(h->message) || !ss_inside_(h->pairs)) return false;
  if (hook == SS_HOOK_RANK && h->pool.count == 0) return false;
  ss_reset_messages_();
  for (int i = 0; i < 8; i++) ss_batch.reasons_[i] = 0;
  ss_batch.next_ = 0, ss_batch.failed_ = ss_batch.silent_ = false;
  return true;
}

SS_FN int32_t ss_status_(void) {
  if (ss_batch.failed_) return SS_FAILED;
  return ss_batch.silent_ ? SS_NO_OPINION : SS_ANSWERED;
}

/* ss_string is the text of a string id, such as ss_offering.family; that of an
 * id which does not exist is empty. */
SS_FN ss_text ss_string(uint32_t id) {
  const ss_header *h = ss_batch.head;
  if (id >= h->index.count) return (ss_text){NULL, 0};
  const uint32_t *entry = (const uint32_t *)(ss_batch.base + h->index.offset + id * h->index.stride);
  if ((uint64_t)entry[0] + entry[1] > h->bytes.size) return (ss_text){NULL, 0};
  return (ss_text){(const char *)ss_batch.base + h->bytes.offset + entry[0], entry[1]};
}

/* ss_labels is a label set of the batch. */
typedef struct { uint32_t first, count; } ss_labels;

/* ss_label_at is label i, in the order of the keys; false when there is none. */
SS_FN bool ss_label_at(ss_labels l, uint32_t i, ss_text *key, ss_text *value) {
  uint64_t at = ((uint64_t)l.first + i) * SS_PAIR_STRIDE;
  if (i >= l.count || at + SS_PAIR_STRIDE > ss_batch.head->pairs.size) return false;
  const uint32_t *pair = (const uint32_t *)(ss_batch.base + ss_batch.head->pairs.offset + at);
  *key = ss_string(pair[0]), *value = ss_string(pair[1]);
  return true;
}

/* ss_label gives a label's value; false when the set does not have it. */
SS_FN bool ss_label(ss_labels l, const char *key, ss_text *value) {
  ss_text k;
  for (uint32_t i = 0; ss_label_at(l, i, &k, value); i++)
    if (ss_is(k, key)) return true;
  *value = (ss_text){NULL, 0};
  return false;
}

/* ---- Reasons and status ------------------------------------------------ */

SS_COLD uint32_t ss_append_(ss_text t) {
  uint8_t *area = ss_batch.base + ss_batch.head->message.offset;
  if (ss_batch.head->message.size < 4) return 0;
  uint64_t at = ss_used_(), end = at + 4 + t.size;
  if (end > ss_batch.head->message.size) return 0;
  *(uint32_t *)(area + at) = t.size;
  if (t.size) __builtin_memcpy(area + at + 4, t.data, t.size);
  *(uint32_t *)area = (uint32_t)((end + 3) & ~(uint64_t)3);
  return (uint32_t)at;
}

/* ss_reason_ gives a text's place in the message area, writing it once for a
 * run of equal ones. */
SS_COLD uint32_t ss_reason_(const char *literal) {
  ss_text t = ss_text_of(literal);
  if (t.size == 0) return 0;
  if (t.size > SS_MAX_MESSAGE) t.size = SS_MAX_MESSAGE;
  const uint8_t *area = ss_batch.base + ss_batch.head->message.offset;
  for (int i = 0; i < 8; i++) {
    uint32_t at = ss_batch.reasons_[i];
    if (at && ss_equal((ss_text){(const char *)area + at + 4, *(const uint32_t *)(area + at)}, t)) return at;
  }
  uint32_t at = ss_append_(t);
  if (at) ss_batch.reasons_[ss_batch.next_++ % 8] = at;
  return at;
}

/* ss_fail gives up on the batch: the policy's failurePolicy applies, and the
 * text appears in its status. */
SS_COLD void ss_fail(const char *why) {
  ss_text t = ss_text_of(*why ? why : "failed");
  if (t.size > SS_MAX_MESSAGE) t.size = SS_MAX_MESSAGE;
  ss_batch.failed_ = true;
  for (int i = 0; i < 8; i++) ss_batch.reasons_[i] = 0;
  ss_reset_messages_();
  ss_append_(t);
}

/* ss_no_opinion leaves the question to other policies, whatever the answers say. */
SS_FN void ss_no_opinion(void) { ss_batch.silent_ = true; }

#endif
