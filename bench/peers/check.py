"""The peers' half of `npm run check:peers`: cases as JSON on the input, {case: {peer, numbers}} on the output.

Each function computes a case by the package that it is compared with; torch's gradients are autograd's, in float64.
"""
import json
import sys
from collections import defaultdict
from importlib.metadata import version

import numpy as np
import torch

double = torch.float64


def tensor(values, **more):
    return torch.tensor(values, dtype=double, **more)


def ppo(c):
    offsets = c["offsets"]
    logits = tensor(c["logits"], requires_grad=True)
    values = tensor(c["values"], requires_grad=True)
    anchor = tensor(c["anchor"])
    log_probs, entropies, kls = [], [], []
    for begin, end in zip(offsets, offsets[1:]):
        log_prob = torch.log_softmax(logits[begin:end], 0)
        log_probs.append(log_prob)
        entropies.append(torch.distributions.Categorical(logits=log_prob).entropy())
        kls.append((log_prob.exp() * (log_prob - anchor[begin:end])).sum())
    state = torch.tensor(c["state"])
    new = torch.stack([log_probs[s][a] for s, a in zip(c["state"], c["action"])])
    ratio = torch.exp(new - tensor(c["oldLogProb"]))
    advantage = tensor(c["advantage"])
    surrogate = torch.min(ratio * advantage, torch.clamp(ratio, 1 - c["clipRange"], 1 + c["clipRange"]) * advantage)
    floored = torch.max(surrogate, c["dualClip"] * advantage)
    policy_loss = -torch.where(advantage < 0, floored, surrogate).mean()
    value, old, returns = values[state], tensor(c["oldValue"]), tensor(c["returns"])
    clipped = old + torch.clamp(value - old, -c["clipRangeValue"], c["clipRangeValue"])
    value_loss = torch.max((value - returns) ** 2, (clipped - returns) ** 2).mean()
    entropy, kl = torch.stack(entropies)[state].mean(), torch.stack(kls)[state].mean()
    loss = policy_loss + c["valueCoef"] * value_loss - c["entropyCoef"] * entropy + c["klCoef"] * kl
    loss.backward()
    return f"torch {version('torch')}", {
        "losses": [x.item() for x in (loss, policy_loss, value_loss, entropy, kl)],
        "gradient by logits": logits.grad.tolist(),
        "gradient by values": values.grad.tolist(),
    }


def gae(c):
    from gymnasium.spaces import Box, Discrete
    from stable_baselines3.common.buffers import RolloutBuffer

    steps, envs = c["steps"], c["envs"]
    grid = lambda name: np.array(c[name], dtype=np.float32).reshape(steps, envs)
    buffer = RolloutBuffer(steps, Box(-1, 1, (1,)), Discrete(2), gae_lambda=c["gaeLambda"], gamma=c["gamma"], n_envs=envs)
    buffer.rewards[:], buffer.values[:] = grid("rewards"), grid("values")
    dones = grid("dones")
    buffer.episode_starts[1:] = dones[:-1]
    buffer.compute_returns_and_advantage(torch.tensor(c["lastValues"]), dones[-1])
    return f"Stable-Baselines3 {version('stable-baselines3')}", {
        "advantages": buffer.advantages.ravel().tolist(),
        "returns": buffer.returns.ravel().tolist(),
    }


def ranks(c):
    from pykeen.evaluation.evaluator import create_sparse_positive_filter_, filter_scores_
    from pykeen.evaluation.ranks import Ranks

    entities = tensor(c["entities"]).reshape(-1, c["dim"])
    relations = tensor(c["relations"]).reshape(-1, c["dim"])
    asked = torch.tensor(c["asked"])
    known = torch.unique(torch.cat([asked, torch.tensor(c["others"])]), dim=0)
    head, relation, tail = asked.T
    out = {}
    for norm in (1, 2):
        sides = []
        for column, query in ((2, entities[head] + relations[relation]), (0, entities[tail] - relations[relation])):
            scores = -(query[:, None] - entities[None]).abs().pow(norm).sum(-1)
            answer = asked[:, column]
            true = scores.gather(1, answer[:, None])
            positives, _ = create_sparse_positive_filter_(hrt_batch=asked, all_pos_triples=known, filter_col=column)
            scores = filter_scores_(scores=scores, filter_batch=positives)
            # The answer is among what was filtered.
            scores[torch.arange(len(asked)), answer] = true[:, 0]
            sides.append(Ranks.from_scores(true_score=true, all_scores=scores).realistic)
        out[f"TransE, L{norm}"] = torch.stack(sides, 1).ravel().tolist()
    return f"PyKEEN {version('pykeen')}", out


def transe(c):
    h, r, t = c["triple"]
    out = {"losses": []}
    for s in c["steps"]:
        entities = tensor(s["entities"]).reshape(-1, s["dim"]).requires_grad_()
        relations = tensor(s["relations"]).reshape(-1, s["dim"]).requires_grad_()
        query = entities[h] + relations[r]
        positive = torch.linalg.vector_norm(query - entities[t], ord=s["norm"])
        negatives = torch.linalg.vector_norm(query - entities[s["negatives"]], ord=s["norm"], dim=-1)
        if s["loss"] == "margin":
            loss = torch.relu(s["margin"] + positive - negatives).mean()
        else:
            weights = torch.softmax(-s["temperature"] * negatives, 0).detach()
            log_sigmoid = torch.nn.functional.logsigmoid
            loss = -(log_sigmoid(s["margin"] - positive) + (weights * log_sigmoid(negatives - s["margin"])).sum()) / 2
        loss.backward()
        out["losses"].append(loss.item())
        out[f"gradients of {s['loss']}, L{s['norm']}"] = torch.cat([entities.grad.ravel(), relations.grad.ravel()]).tolist()
    return f"torch {version('torch')}", out


def complex_step(c):
    half = c["dim"] // 2
    entities = tensor(c["entities"]).reshape(-1, c["dim"]).requires_grad_()
    relations = tensor(c["relations"]).reshape(-1, c["dim"]).requires_grad_()
    as_complex = lambda rows: torch.complex(rows[..., :half], rows[..., half:])
    loss, cubes, count = 0, 0, 0
    cube = lambda row: (row[:half] ** 2 + row[half:] ** 2).pow(1.5).sum()
    for q in c["queries"]:
        given, relation = entities[q["given"]], relations[q["relation"]]
        scores = (as_complex(given) * as_complex(relation) * as_complex(entities).conj()).real.sum(-1)
        loss = loss - torch.log_softmax(scores, 0)[q["answers"]].sum()
        for answer in q["answers"]:
            cubes = cubes + c["regularization"] * (cube(given) + cube(relation) + cube(entities[answer]))
        count += len(q["answers"])
    ((loss + cubes) / count).backward()
    return f"torch {version('torch')}", {
        "loss": [(loss / count).item()],
        "gradients": torch.cat([entities.grad.ravel(), relations.grad.ravel()]).tolist(),
    }


def categorical(c):
    from sb3_contrib.common.maskable.distributions import MaskableCategorical

    shape = (c["numStates"], c["width"])
    mask = np.array(c["mask"], dtype=bool).reshape(shape)
    distribution = MaskableCategorical(logits=tensor(c["logits"]).reshape(shape), masks=mask)
    return f"sb3-contrib {version('sb3-contrib')}", {
        "log-probabilities of legal actions": distribution.logits[torch.from_numpy(mask)].tolist(),
        "entropies": distribution.entropy().tolist(),
    }


def bootstrap(c):
    from scipy import stats

    clusters = np.array(c["clusters"])
    sizes = np.bincount(clusters)
    sums = lambda values: np.bincount(clusters, weights=values)
    mean = lambda total, size, axis: total.sum(axis) / size.sum(axis)
    a, b = np.array(c["a"]), np.array(c["b"])

    def interval(values):
        more = dict(n_resamples=c["resamples"], method="percentile", paired=True, vectorized=True, batch=500)
        found = stats.bootstrap((sums(values), sizes), mean, rng=np.random.default_rng(0), **more)
        return [values.mean(), *found.confidence_interval], found.bootstrap_distribution

    ends, _ = interval(a)
    of_difference, drawn = interval(a - b)
    p = 2 * (min((drawn <= 0).sum(), (drawn >= 0).sum()) + 1) / (len(drawn) + 1)
    return f"scipy {version('scipy')}", {
        "mean with its interval": ends,
        "difference with its interval, and p": [*of_difference, min(1, p)],
    }


def aggregates(c):
    from rliable import library, metrics

    a, b = (np.array(c[name]).T for name in "ab")
    profile = library.run_score_deviation
    return "rliable " + version("rliable"), {
        "interquartile mean, optimality gap": [metrics.aggregate_iqm(a), metrics.aggregate_optimality_gap(a)],
        "probability of improvement": [metrics.probability_of_improvement(a, b)],
        "performance profile": [profile(a, threshold) for threshold in c["thresholds"]],
    }


def walks(c):
    tails = c["tails"]
    edges = lambda entity: range(c["offsets"][entity], c["offsets"][entity + 1])
    found = [(c["one"][e], tails[e]) for e in edges(c["start"])]
    for first in edges(c["start"]):
        found += [(c["two"][first * len(tails) + e], tails[e]) for e in edges(tails[first])]
    best = sorted(found, reverse=True)[: c["beamWidth"]]
    sums = defaultdict(float)
    for log_prob, entity in found:
        sums[entity] += np.exp(log_prob)
    return "every walk, sorted", {
        "log-probabilities of the best": [log_prob for log_prob, _ in best],
        "ends of the best": [entity for _, entity in best],
        "summed log-probabilities of entities": [float(np.log(sums[entity])) for entity in sorted(sums)],
    }


def beams(c):
    logits = np.array(c["logits"]).reshape(-1, c["horizon"], c["width"])
    rows = []
    for head in c["heads"]:
        open_walks = [(0.0, head)]
        for hop in range(c["horizon"]):
            longer = []
            for log_prob, at in open_walks:
                ends = c["tails"][c["offsets"][at] : c["offsets"][at + 1]] + [at]
                scores = logits[at, hop, : len(ends)]
                scores = scores - np.log(np.exp(scores).sum())
                longer += [(log_prob + float(score), end) for score, end in zip(scores, ends)]
            # The last step is not cut.
            open_walks = longer if hop == c["horizon"] - 1 else sorted(longer, reverse=True)[: c["beamWidth"]]
        reached = defaultdict(list)
        for log_prob, entity in open_walks:
            reached[entity].append(log_prob)
        rows += [(entity, max(of), float(np.log(np.exp(of).sum()))) for entity, of in sorted(reached.items())]
    names = ("entities that are reached", "log-probabilities of the best walks", "summed log-probabilities")
    return "every walk, sorted", {name: list(column) for name, column in zip(names, zip(*rows))}


def llama(c):
    from transformers import LlamaConfig, LlamaForCausalLM

    parts = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
             "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    own = {name: tensor(values).reshape(shape).requires_grad_() for name, (shape, values) in c["tensors"].items()}

    def merged(name):
        """The weight with its low-rank matrices, rows of q and k in the order of transformers: halves of a head in place of pairs."""
        weight = own[name]
        if f"{name}.lora_a" in own:
            weight = weight + c["scale"] * own[f"{name}.lora_b"] @ own[f"{name}.lora_a"]
        if "attn_q" in name or "attn_k" in name:
            heads = c["heads"] if "attn_q" in name else c["kvHeads"]
            weight = weight.reshape(heads, -1, 2, weight.shape[-1]).transpose(1, 2).reshape(weight.shape)
        return weight

    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=c["vocabSize"], hidden_size=c["dim"], intermediate_size=c["hiddenDim"], num_hidden_layers=c["layers"],
        num_attention_heads=c["heads"], num_key_value_heads=c["kvHeads"], max_position_embeddings=c["contextLength"],
        rope_parameters={"rope_type": "default", "rope_theta": c["ropeTheta"]}, rms_norm_eps=c["normEps"],
        tie_word_embeddings=True, attn_implementation="eager")).double()
    weights = {f"model.layers.{layer}.{theirs}.weight": merged(f"blk.{layer}.{ours}.weight")
               for layer in range(c["layers"]) for ours, theirs in parts.items()}
    table = own["token_embd.weight"]
    weights |= {"model.embed_tokens.weight": table, "lm_head.weight": table, "model.norm.weight": own["output_norm.weight"]}
    begin, *ends = c["ids"]
    logits = [torch.func.functional_call(model, weights, (torch.tensor([begin + end]),)).logits[0] for end in ends]
    rows = torch.cat([logits[0], logits[1][len(begin):]])
    (rows * tensor(c["by"]).reshape(rows.shape)).sum().backward()
    of = lambda names: torch.cat([own[name].grad.ravel() for name in names]).tolist()
    return f"transformers {version('transformers')}", {
        "logits": rows.ravel().tolist(),
        "gradients by low-rank matrices": of(c["names"]),
        "gradients by weights": of(name for name in own if name not in c["names"]),
    }


answers = {
    "a minibatch of PPO": ppo,
    "generalised advantages": gae,
    "filtered ranks": ranks,
    "a step of TransE": transe,
    "a step of ComplEx": complex_step,
    "masked categorical": categorical,
    "bootstrap over clusters": bootstrap,
    "scores over data sets": aggregates,
    "walks of a dialogue": walks,
    "beams of link queries": beams,
    "a forest of tokens in a Llama": llama,
}

torch.set_num_threads(1)
result = {}
for name, case in json.load(sys.stdin).items():
    peer, numbers = answers[name](case)
    result[name] = {"peer": peer, "numbers": numbers}
json.dump(result, sys.stdout)
