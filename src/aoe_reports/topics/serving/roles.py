"""What operators of a server of language models are for, by their types, or by their names where types are not told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, get_args

Part = Literal[
    "attention", "kv-cache", "products", "moe", "normalisation", "sampling", "communication", "other", "idle"
]
PARTS: tuple[Part, ...] = get_args(Part)

Role = Literal[
    "prefill attention",
    "decode attention",
    "attention",
    "beside attention",
    "kv-cache",
    "products",
    "moe",
    "normalisation",
    "sampling",
    "random",
    "embedding",
    "gather",
    "receive",
    "other",
]
"""The roles in which types of operators are told apart; `attention` alone serves both phases. Random numbers may be drawn on a stream of
their own while the model runs, so that they end no iteration."""
ROLES: tuple[Role, ...] = get_args(Role)
ATTENTION: tuple[Role, ...] = ("prefill attention", "decode attention", "attention")

_PATTERNS: tuple[tuple[Role, str], ...] = (
    ("kv-cache", r"reshape_?and_?cache|pa_?kv_?cache|rope_?cache|paged_?cache|kv_?cache|scatter_?(?:nd_?)?update"),
    ("beside attention", r"lightning_?indexer|attention_?update|attention_?worker|mask_?attention|update_?lse"),
    ("prefill attention", r"prompt_?flash|ring_?mla|mla_?prefill|unpad_?flash_?attention|self_?attention|flash_?attention_?score"),
    ("decode attention", r"incre_?flash|paged_?(?:multi_?latent_?)?attention|paged_?decode"),
    ("attention", r"fused_?infer_?attention|multi_?latent_?attention|sparse_?flash_?(?:attention|mla)|sparse_?attn|attention|_?mla(?:_nd)?_kernel"),
    ("moe", r"moe|expert|grouped_?mat_?mul|dispatch|ffn_?combine|gating_?top_?k|\bgmm"),
    ("products", r"mat_?mul|gemm|mla_?prolog|mla_?preprocess|mlapo|batch_?mm"),
    ("normalisation", r"norm"),
    ("embedding", r"embedding(?!.*rot)|gather_?v2?_?emb"),
    ("sampling", r"arg_?max|top_?k|top_?p|multinomial|reject|sort|penalt|log_?softmax|gumbel|temperature"),
    ("random", r"random|exponential"),
    ("gather", r"(?<!all)(?<!all_)gather|index_?select|(?:\b|aclnn)index(?:_|\b)"),
    ("receive", r"receive|recv"),
)  # fmt: skip
_ROLE = tuple((role, re.compile(pattern, re.IGNORECASE)) for role, pattern in _PATTERNS)
_ROTARY = re.compile(r"rotary|rope(?!.*cache)", re.IGNORECASE)
_TRAINS = re.compile(r"grad|backward|adam|momentum|optimizer|_?bwd(?:_|\b)|lamb_?update", re.IGNORECASE)
_SERVES = re.compile(
    r"reshape_?and_?cache|scatter_?pa_?kv|kv_?rms_?norm_?rope|paged_?cache|paged_?(?:multi_?latent_?)?attention|incre_?flash"
    r"|ring_?mla|mla_?prolog|mla_?preprocess|sparse_?flash",
    re.IGNORECASE,
)
_INFERS = re.compile(r"prompt_?flash|fused_?infer|unpad_?flash", re.IGNORECASE)
"""Attention that encoders and diffusion use, too: these write no cache and sample no token."""
_PART_OF: dict[Role, Part] = {
    **dict.fromkeys((*ATTENTION, "beside attention"), "attention"),
    "kv-cache": "kv-cache",
    "products": "products",
    "moe": "moe",
    "normalisation": "normalisation",
    "sampling": "sampling",
    "random": "sampling",
    "receive": "communication",
}


@lru_cache(maxsize=1 << 14)
def role_of(word: str) -> Role:
    """The role of an operator, by its type or its name."""
    if _ROTARY.search(word):
        return "other"
    return next((role for role, pattern in _ROLE if pattern.search(word)), "other")


def part_of(role: Role) -> Part:
    """The part of an iteration that the operators of a role are."""
    return _PART_OF.get(role, "other")


def is_serving(words: Iterable[str]) -> bool:
    """Whether operators are those of a server: there are some that only inference has, and none that only training has."""
    serves = infers = continues = False
    for word in words:
        if _TRAINS.search(word):
            return False
        serves = serves or _SERVES.search(word) is not None
        infers = infers or _INFERS.search(word) is not None
        continues = continues or role_of(word) in {"kv-cache", "sampling"}
    return serves or (infers and continues)
