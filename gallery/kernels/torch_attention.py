# SPDX-License-Identifier: Apache-2.0
"""What PyTorch takes for the attention of versus_libraries.cu: fp32 without TF32 for the plain path ("math", CUDA cores) and its
memory-efficient kernel (which uses tensor cores). CSV: what, size, median and least microseconds, GFLOP/s."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

torch.backends.cuda.matmul.allow_tf32 = False
print(f"# torch {torch.__version__}")
for length in (4096, 16384):
    for d in (64, 128):
        q, k, v = (torch.rand(1, 16, length, d, device="cuda") - 0.5 for _ in range(3))
        for backend in (SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION):
            times = []
            with sdpa_kernel(backend):
                for i in range(12):
                    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
                    begin.record()
                    scaled_dot_product_attention(q, k, v, scale=3.0)
                    end.record()
                    end.synchronize()
                    if i >= 3:
                        times.append(begin.elapsed_time(end) * 1000)
            times.sort()
            figure = 64 * length * length * d / times[4] / 1e3
            print(f"attention_d{d}_torch_{backend.name.lower()},{length},{times[4]:.2f},{times[0]:.2f},{figure:.0f}", flush=True)
