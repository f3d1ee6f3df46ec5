/**
 * A walker over link queries that knows entities and relations by frozen vectors alone: dense networks over the vectors of
 * head, relation and current entity, one score a place of the action list. The peers' plain policy; it reads no edge, so what
 * it learns of a place holds for one graph with one order of edges.
 */
import { Rng } from '../../src/run/seeds.js';
import { Arena } from '../../src/simd/arena.js';
import { openKernels } from '../../src/simd/kernels.js';
import type { Tf } from '../../src/tensor/backend.js';
import { HostMlp } from '../../src/tensor/host/host-mlp.js';
import type { HostOutputs } from '../../src/tensor/host/host-parameters.js';
import { withNativeProducts } from '../../src/tensor/host/native-products.js';
import type { LinkQueryObservation, QueryVectors } from '../../envs/link-query/world.js';
import type { Actor, ValueNetwork } from '../actor.js';
import { linkRequestOf, numLegal, type LinkRequest } from '../link-walker/request.js';

/** What the networks of a vector walker are made from. */
export interface VectorWalkerOptions {
  vectors: QueryVectors;
  /** Scores of the policy: the longest action list. */
  maxActions: number;
  /** Units of the hidden layers of policy and critic, multiples of 4. Default 64 and 64. */
  hidden?: readonly number[];
  seed: number;
  /**
   * An open backend for products of 4 million multiply-adds and more: native TensorFlow makes layers of some hundred units
   * faster. Results differ by rounding. Default: none.
   */
  tf?: Tf;
}

/** A policy and its critic, apart but for the vectors that both read. */
export interface VectorWalker {
  actor: Actor<LinkQueryObservation, LinkRequest>;
  critic: ValueNetwork<LinkRequest>;
}

/**
 * Orthogonal starts with gains √2, 0.01 for the policy's scores and 1 for the value.
 * @throws WorkbenchError `native` where there is no WebAssembly SIMD, `usage` for hidden layers that are not multiples of 4 or a
 *   backend on a device
 */
export function createVectorWalker({
  vectors,
  maxActions,
  hidden = [64, 64],
  seed,
  tf,
}: VectorWalkerOptions): VectorWalker {
  const arena = new Arena();
  const simd = openKernels(arena.memory);
  const kernels = tf ? withNativeProducts(tf, simd, arena) : simd;
  const entities = { rows: arena.hold(vectors.entities), dim: vectors.dim };
  const relations = { rows: arena.hold(vectors.relations), dim: vectors.dim };
  const tables = [entities, relations, entities];
  const network = (name: string, outputs: number, gain: number) =>
    new HostMlp(
      { tables, hidden, outputs, gain },
      (layer) => Rng.named(seed, `vector-walker/${name}/${layer}`),
      arena,
      kernels,
    );
  const policy = network('policy', maxActions, 0.01);
  const values = network('value', 1, 1);
  return { actor: actorOf(policy, maxActions), critic: criticOf(values) };
}

function actorOf(policy: HostMlp, maxActions: number): VectorWalker['actor'] {
  const score = (requests: readonly LinkRequest[]) => {
    const offsets = new Int32Array(requests.length + 1);
    requests.forEach((request, i) => (offsets[i + 1] = offsets[i]! + numLegal(request)));
    const ids = idsOf(requests);
    const logits = (): HostOutputs => {
      const { values, current, back } = policy.compute(ids);
      return {
        current,
        values: legalOf(values, requests, maxActions, offsets),
        back: (slope) => back(allOf(slope, requests, maxActions, offsets)),
      };
    };
    return { offsets, logits };
  };
  return {
    parameters: policy.parameters,
    requestOf: linkRequestOf,
    stateKey: ({ current, hop }) => `${current} ${hop}`,
    numScores: ({ length }) => length,
    score,
    envAction: ({ legal }, place) => legal?.[place] ?? place,
    weightsChanged: () => undefined,
    dispose: () => policy.parameters.dispose(),
  };
}

function criticOf(network: HostMlp): VectorWalker['critic'] {
  return {
    parameters: network.parameters,
    values: (requests) => {
      const ids = idsOf(requests);
      let made: HostOutputs | undefined;
      // What is read first and stepped from next is computed once.
      return () => (made?.current() ? made : (made = network.compute(ids)));
    },
    dispose: () => network.parameters.dispose(),
  };
}

/** Rows of the three tables. */
function idsOf(requests: readonly LinkRequest[]): Int32Array[] {
  const [heads, relations, currents] = [0, 0, 0].map(() => new Int32Array(requests.length)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  for (let i = 0; i < requests.length; i++) {
    const request = requests[i]!;
    heads[i] = request.head;
    relations[i] = request.relation;
    currents[i] = request.current;
  }
  return [heads, relations, currents];
}

/** From scores of all places, [requests, width], to those of the legal actions. */
function legalOf(scores: Float32Array, requests: readonly LinkRequest[], width: number, offsets: Int32Array) {
  const legal = new Float32Array(offsets.at(-1)!);
  for (let row = 0; row < requests.length; row++) {
    const places = requests[row]!.legal;
    const [from, begin, count] = [row * width, offsets[row]!, offsets[row + 1]! - offsets[row]!];
    for (let i = 0; i < count; i++) legal[begin + i] = scores[from + (places ? places[i]! : i)]!;
  }
  return legal;
}

/** The way back of `legalOf`: zeros where nothing is legal. */
function allOf(slope: Float32Array, requests: readonly LinkRequest[], width: number, offsets: Int32Array) {
  const all = new Float32Array(requests.length * width);
  for (let row = 0; row < requests.length; row++) {
    const places = requests[row]!.legal;
    const [to, begin, count] = [row * width, offsets[row]!, offsets[row + 1]! - offsets[row]!];
    for (let i = 0; i < count; i++) all[to + (places ? places[i]! : i)] = slope[begin + i]!;
  }
  return all;
}
