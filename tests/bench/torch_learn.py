#!/usr/bin/env python3
"""The work of bench_learn's first line in PyTorch: forward and backward pass of a Llama of dim 128 with
4 layers over 64 distinct sequences of 128 tokens, float32, eager.

    python3 tests/bench/torch_learn.py [THREADS]     prints tokens/s (the fastest of 10 rounds;
one thread in processor time, as bench_learn does)
"""
import sys
import time

import torch
import torch.nn.functional as F

VOCAB, DIM, LAYERS, HEADS, HIDDEN = 264, 128, 4, 4, 344
SEQUENCES, LENGTH, ROUNDS = 64, 128, 10
HEAD = DIM // HEADS


def norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


def rotate(x, cosine, sine):
    a, b = x[..., : HEAD // 2], x[..., HEAD // 2 :]
    return x * cosine + torch.cat((-b, a), -1) * sine


class Llama(torch.nn.Module):
    def __init__(self):
        super().__init__()
        weight = lambda *shape: torch.nn.Parameter(torch.randn(*shape) * 0.02)
        ones = lambda: torch.nn.Parameter(torch.ones(DIM))
        self.embed, self.norm = weight(VOCAB, DIM), ones()
        self.layers = torch.nn.ModuleList()
        for _ in range(LAYERS):
            layer = torch.nn.ParameterDict(
                dict(norm1=ones(), qkv=weight(3 * DIM, DIM), o=weight(DIM, DIM), norm2=ones(),
                     gate_up=weight(2 * HIDDEN, DIM), down=weight(DIM, HIDDEN)))
            self.layers.append(layer)
        turn = 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
        angle = torch.arange(LENGTH)[:, None] * torch.cat((turn, turn))[None, :]
        self.cosine, self.sine = angle.cos(), angle.sin()
        self.mask = torch.full((LENGTH, LENGTH), float("-inf")).triu(1)

    def attention(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return torch.softmax(q @ k.transpose(-1, -2) / HEAD ** 0.5 + self.mask, -1) @ v

    def forward(self, tokens):
        n = tokens.shape[0]
        x = F.embedding(tokens, self.embed)
        for w in self.layers:
            qkv = F.linear(norm(x, w["norm1"]), w["qkv"]).view(n, LENGTH, 3, HEADS, HEAD)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            q, k = rotate(q, self.cosine, self.sine), rotate(k, self.cosine, self.sine)
            x = x + F.linear(self.attention(q, k, v).transpose(1, 2).reshape(n, LENGTH, DIM), w["o"])
            gate, up = F.linear(norm(x, w["norm2"]), w["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, w["down"])
        return F.linear(norm(x, self.norm), self.embed)


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model, tokens = Llama(), torch.randint(0, 256, (SEQUENCES, LENGTH))
    now = time.process_time if threads == 1 else time.perf_counter
    best = 1e9
    for _ in range(ROUNDS):
        start = now()
        model.zero_grad()
        logp = torch.log_softmax(model(tokens)[:, :-1], -1)
        logp.gather(-1, tokens[:, 1:, None]).sum().backward()
        best = min(best, now() - start)
    print(f"learn, PyTorch {torch.__version__}, {threads} threads: {SEQUENCES * LENGTH / best:.0f} tokens/s")


main()
