"""/v1/embeddings of a Llama in GGUF by torch: whole batches of texts on a card, the last token's vector (or the mean) of each.

    python3 embeddings_torch.py MODEL.gguf [--device cuda] [--port 8080] [--pooling last] [--tokens 65536]
    kgwalk train llm-ark-2024 --model http://127.0.0.1:8080/v1#MODEL.gguf

What it computes is what llama.cpp does with the same file, in float32 (TF32 products on a card) from the weights as the file has them.
GGUF of the architecture `llama` with a byte-level vocabulary (`gpt2`) alone. Needs torch, transformers, tokenizers, gguf.
"""
import argparse
import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import gguf
import torch
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaModel

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("model", help="a GGUF")
p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
p.add_argument("--port", type=int, default=8080)
p.add_argument("--pooling", choices=["last", "mean"], default="last")
p.add_argument("--tokens", type=int, default=65536, help="tokens a batch, padding counted")
a = p.parse_args()
torch.backends.cuda.matmul.allow_tf32 = True

reader = gguf.GGUFReader(a.model)


def field(name, default=None):
    found = reader.get_field(name)
    return default if found is None else found.contents()


if field("general.architecture") != "llama" or field("tokenizer.ggml.model") != "gpt2":
    raise SystemExit(f"expected a llama with a byte-level vocabulary, got {field('general.architecture')} with {field('tokenizer.ggml.model')}")


def tokenizer_of():
    words, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ")) for merge in field("tokenizer.ggml.merges")]
    made = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, merges))
    digits = [pre_tokenizers.Digits(individual_digits=True)] if field("tokenizer.ggml.pre") == "smollm" else []
    made.pre_tokenizer = pre_tokenizers.Sequence([*digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    made.add_special_tokens([AddedToken(word, special=True) for word, kind in zip(words, kinds) if kind == gguf.TokenType.CONTROL])
    return made


def model_of():
    heads = field("llama.attention.head_count")
    kv_heads = field("llama.attention.head_count_kv", heads)
    config = LlamaConfig(
        vocab_size=len(field("tokenizer.ggml.tokens")), hidden_size=field("llama.embedding_length"),
        intermediate_size=field("llama.feed_forward_length"), num_hidden_layers=field("llama.block_count"),
        num_attention_heads=heads, num_key_value_heads=kv_heads, max_position_embeddings=field("llama.context_length"),
        rms_norm_eps=field("llama.attention.layer_norm_rms_epsilon"), attention_bias=False,
        rope_parameters={"rope_type": "default", "rope_theta": field("llama.rope.freq_base", 10000.0)},
        attn_implementation="sdpa")
    names = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
             "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    weights = {}
    for tensor in reader.tensors:
        values = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy()).float()
        if tensor.name == "token_embd.weight":
            weights["embed_tokens.weight"] = values
        elif tensor.name == "output_norm.weight":
            weights["norm.weight"] = values
        elif tensor.name.startswith("blk."):
            _, block, name, _ = tensor.name.split(".")
            if name in ("attn_q", "attn_k"):
                # The file has the halves that rotate together side by side.
                count = heads if name == "attn_q" else kv_heads
                values = values.view(count, -1, 2, values.shape[1]).transpose(1, 2).reshape(values.shape)
            weights[f"layers.{block}.{names[name]}.weight"] = values
    made = LlamaModel(config)
    made.load_state_dict(weights, strict=True)
    return made.eval().to(a.device)


tokenizer, model, card = tokenizer_of(), model_of(), threading.Lock()


def batches(sizes):
    """Indices of texts by length, so many a batch that padding and all stay below the bound."""
    batch = []
    for i in sorted(range(len(sizes)), key=lambda i: sizes[i]):
        if batch and (len(batch) + 1) * sizes[i] > a.tokens:
            yield batch
            batch = []
        batch.append(i)
    yield batch


@torch.inference_mode()
def vectors(texts):
    tokens = [encoding.ids or [0] for encoding in tokenizer.encode_batch(texts)]
    found = [None] * len(texts)
    for batch in batches([len(ids) for ids in tokens]):
        lengths = torch.tensor([len(tokens[i]) for i in batch])
        ids = torch.zeros(len(batch), int(lengths.max()), dtype=torch.long)
        for row, i in enumerate(batch):
            ids[row, : len(tokens[i])] = torch.tensor(tokens[i])
        # Causal, with padding behind: what is before it does not see it.
        with card:
            states = model(input_ids=ids.to(a.device)).last_hidden_state
            if a.pooling == "last":
                rows = states[torch.arange(len(batch)), lengths.to(a.device) - 1]
            else:
                inside = (torch.arange(ids.shape[1])[None] < lengths[:, None]).to(a.device)
                rows = (states * inside[..., None]).sum(1) / lengths.to(a.device)[:, None]
            rows = rows.float().cpu().numpy()
        for row, i in enumerate(batch):
            found[i] = rows[row]
    return found, sum(map(len, tokens))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply({"object": "list", "data": [{"id": Path(a.model).name, "object": "model"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        rows, tokens = vectors(texts)
        coded = asked.get("encoding_format") == "base64"
        data = [{"object": "embedding", "index": i, "embedding": base64.b64encode(row.tobytes()).decode() if coded else row.tolist()}
                for i, row in enumerate(rows)]
        self.reply({"object": "list", "model": asked.get("model"), "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})

    def reply(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 64


print(f"serving {Path(a.model).name} on {a.device} at http://127.0.0.1:{a.port}/v1", flush=True)
Server(("127.0.0.1", a.port), Handler).serve_forever()
