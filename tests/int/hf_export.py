#!/usr/bin/env python3
"""Opens an exported folder in transformers and compares its logits with Agon's.

Usage: hf_export.py FOLDER EXPECTED.json
EXPECTED.json: {"tokens": [ids], "logits": [[one row of vocab numbers a token]]}; "logprobs" instead of
"logits" compares log-probabilities. Prints the largest difference; above 1e-4 it is a failure. Where
torch or transformers is missing it prints "skipped: reason" and succeeds.
"""
import json
import os
import sys

LIMIT = 1e-4


def main(folder, expected):
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch
        from transformers import AutoModelForCausalLM
    except ImportError as why:
        print(f"skipped: {why}")
        return 0
    with open(expected, encoding="utf-8") as file:
        want = json.load(file)
    model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    wrong = {k: sorted(map(str, v)) for k, v in info.items() if v}
    if wrong:
        print(f"failed: transformers does not take the weights as they are: {wrong}")
        return 1
    model.eval()
    with torch.no_grad():
        got = model(torch.tensor([want["tokens"]])).logits[0].double()
    if "logprobs" in want:
        got = torch.log_softmax(got, dim=-1)
    rows = torch.tensor(want["logits" if "logits" in want else "logprobs"], dtype=torch.float64)
    if got.shape != rows.shape:
        print(f"failed: transformers gives {list(got.shape)} numbers, expected {list(rows.shape)}")
        return 1
    worst = (got - rows).abs().max().item()
    spread = rows.std(dim=-1).mean().item()
    print(f"{'ok' if worst <= LIMIT else 'failed'}: {type(model).__name__}, {len(rows)} tokens, "
          f"largest difference {worst:.2e} (limit {LIMIT:g}, spread of a row {spread:.2f})")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
