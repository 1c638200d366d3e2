#!/usr/bin/env python3
"""Opens exported folders in transformers and compares their log-probabilities with Agon's.

Without arguments: lets the unit test of snapshots export random models (tied and untied), and checks
those. With arguments FOLDER EXPECTED.json: checks that folder.
EXPECTED.json: {"tokens": [ids], "logprobs": [[one row of vocab numbers a token]]}; "logits" instead of
"logprobs" compares logits. A difference above 1e-4 is a failure. Where torch or transformers is missing
the test is skipped.
"""
# timeout: 300
import json
import os
import subprocess
import sys
import tempfile

LIMIT = 1e-4


def compare(folder, expected):
    """None when all is well, otherwise what is wrong."""
    import torch
    from transformers import AutoModelForCausalLM

    with open(expected, encoding="utf-8") as file:
        want = json.load(file)
    kind = "logits" if "logits" in want else "logprobs"
    model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    wrong = {k: str(v) for k, v in info.items() if v}
    if wrong:
        return f"transformers does not take the weights as they are: {wrong}"
    model.eval()
    with torch.no_grad():
        got = model(torch.tensor([want["tokens"]])).logits[0].double()
    if kind == "logprobs":
        got = torch.log_softmax(got, dim=-1)
    rows = torch.tensor(want[kind], dtype=torch.float64)
    if got.shape != rows.shape:
        return f"transformers gives {list(got.shape)} numbers, expected are {list(rows.shape)}"
    worst = (got - rows).abs().max().item()
    print(f"{folder}: {type(model).__name__}, {len(rows)} tokens, largest difference {worst:.2e}, "
          f"spread of a row {rows.std(dim=-1).mean().item():.2f}")
    return None if worst <= LIMIT else f"largest difference {worst:.2e}, at most {LIMIT:g} is allowed"


def check(name, folder, expected):
    wrong = compare(folder, expected)
    print(f"not ok - {name}: {wrong}" if wrong else f"ok - {name}")
    return 1 if wrong else 0


def main(arguments):
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as why:
        print(f"skip - hf_export: {why}")
        return 0
    if arguments:
        return check("hf_export", *arguments)
    exporter = os.path.join(os.environ.get("O", "build"), "tests/unit/policy/test_snap")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([exporter], env={**os.environ, "AGON_HF_EXPORT": folder}, check=True)
        return sum(check(f"hf_export {kind}", f"{folder}/{kind}", f"{folder}/{kind}/expected.json")
                   for kind in ("tied", "untied"))


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
