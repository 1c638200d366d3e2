/* Snapshots: one safetensors file per policy version, named by the SHA-256 of its bytes:
 * <folder>/<hash>.safetensors. It never changes and never half-exists (temporary file, fsync,
 * rename). Tensor names are Hugging Face's; the configuration is in the metadata. A damaged, cut or
 * mis-shaped file is an error, never a fresh policy. */
#ifndef POLICY_SNAP_H
#define POLICY_SNAP_H

#include "base/err.h"
#include "base/hash.h"
#include "policy/model.h"

/* Writes the model; fills `hash`. `sync`: with fsync. Saving the same weights again is a no-op. */
int snap_save(const char *folder, const struct model *m, bool sync, char hash[HASH_HEX],
              struct err *e);
/* Loads and verifies (hash, header, configuration, every tensor, finiteness). NULL on error. */
struct model *snap_load(const char *folder, const char *hash, struct err *e);
void snap_path(const char *folder, const char *hash, char *out, size_t cap);
/* Writes a folder (config.json, model.safetensors, ...) that transformers' AutoModelForCausalLM
 * opens. */
int snap_export_hf(const struct model *m, const char *dir, struct err *e);

#endif
