"""A tiny Qwen3.5 with random weights and a tokenizer trained here: python tests/engines/tiny_qwen.py FOLDER.

It has the class of the published checkpoints, so that vLLM runs the same code. No model hub is contacted. Its answers
mean nothing; the engine makes them fit their schema.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen3_5Config, Qwen3_5ForConditionalGeneration

SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
VISION = {"image_token_id": 7, "video_token_id": 8, "vision_start_token_id": 5, "vision_end_token_id": 6}
CORPUS = [
    '{"value": true, "value": "none_or_fyi", "label": false}',
    "My knee has hurt since Tuesday; what do you advise?",
]
CHAT = """{%- for m in messages %}<|im_start|>{{ m['role'] }}
{{ m['content'] }}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and enable_thinking is false %}<think>

</think>

{% else %}<think>
{% endif %}{%- endif %}"""
HEADS = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 64}
LINEAR_HEADS = {
    "linear_key_head_dim": 64, "linear_value_head_dim": 64, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
}  # fmt: skip
ROPE = {
    "rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25, "mrope_section": [3, 3, 2],
    "mrope_interleaved": True,
}  # fmt: skip


def write_tiny_qwen(folder: Path) -> None:
    """Write the model, its tokenizer and its chat template."""
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder)
    end, padding = tokenizer.eos_token_id, tokenizer.pad_token_id
    text = {
        "vocab_size": 64 * (1 + len(tokenizer) // 64), "hidden_size": 128, "intermediate_size": 256,
        "num_hidden_layers": 4, "max_position_embeddings": 8192, "tie_word_embeddings": True, "eos_token_id": end,
        "pad_token_id": padding, "rope_parameters": ROPE, **HEADS, **LINEAR_HEADS,
    }  # fmt: skip
    vision = {
        "depth": 1, "hidden_size": 64, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 128,
        "deepstack_visual_indexes": [],
    }  # fmt: skip
    torch.manual_seed(0)
    config = Qwen3_5Config(text_config=text, vision_config=vision, tie_word_embeddings=True, **VISION)
    Qwen3_5ForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(folder)
    GenerationConfig(eos_token_id=[end, padding], pad_token_id=padding).save_pretrained(folder)


def _tokenizer() -> PreTrainedTokenizerFast:
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = bytes_, decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=list(SPECIAL), initial_alphabet=bytes_.alphabet())
    tokenizer.train_from_iterator(CORPUS * 50, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=8192,
        clean_up_tokenization_spaces=False,
    )  # fmt: skip
    fast.chat_template = CHAT
    return fast


if __name__ == "__main__":
    write_tiny_qwen(Path(sys.argv[1]))
