"""A llama of random weights as Hugging Face stores it, with a tokenizer of single bytes. Run by a
Python with torch and transformers: random_llama.py DIR HIDDEN LAYERS HEADS DTYPE"""

from __future__ import annotations

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "


def tokenizer() -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    numbers = {text: number for number, text in enumerate(["<unk>", "<s>", "</s>", *letters])}
    bare = Tokenizer(models.BPE(vocab=numbers, merges=[], unk_token="<unk>"))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=bare, unk_token="<unk>", bos_token="<s>", eos_token="</s>",
        pad_token="</s>",
    )  # fmt: skip
    made.chat_template = TEMPLATE
    return made


def main(folder: str, hidden: int, layers: int, heads: int, dtype: str) -> None:
    made = tokenizer()
    config = LlamaConfig(
        vocab_size=len(made), hidden_size=hidden, intermediate_size=2 * hidden,
        num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=heads,
        max_position_embeddings=2048, bos_token_id=1, eos_token_id=2, pad_token_id=2,
    )  # fmt: skip
    torch.manual_seed(7)
    torch.set_default_dtype(getattr(torch, dtype))
    model = LlamaForCausalLM(config)
    model.generation_config.max_new_tokens = 64
    model.save_pretrained(folder)
    made.save_pretrained(folder)
    print(f"{sum(one.numel() for one in model.parameters())} parameters")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5])
