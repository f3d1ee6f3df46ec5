/** Transformer layers over a few tokens a state: attention by several heads, layer norms before each part. */
import { int32Lists } from '../../../src/kg/adjacency.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import { attentionHeads } from './attention.js';
import type { Scene, Starts } from './network.js';

/** Each query of a state with each token of that state, a query after the other. */
interface TokenPairs {
  /** int32 [pairs]: row of each one's query. */
  queries: Int32Array;
  /** int32 [pairs]: row of each one's token. */
  tokens: Int32Array;
  /** int32 [queries + 1]: pairs of query `i` are `offsets[i] .. offsets[i + 1] - 1`. */
  offsets: Int32Array;
}

/** @param ofQueries int32 [queries]: state of each, ascending; likewise `ofTokens`, at least one a state */
export function tokenPairs(ofQueries: Int32Array, ofTokens: Int32Array): TokenPairs {
  const pairs = { queries: [] as number[], tokens: [] as number[], offsets: [0] };
  let begin = 0;
  ofQueries.forEach((state, query) => {
    while (ofTokens[begin]! < state) begin++;
    for (let token = begin; ofTokens[token] === state; token++) {
      pairs.queries.push(query);
      pairs.tokens.push(token);
    }
    pairs.offsets.push(pairs.tokens.length);
  });
  return int32Lists(pairs);
}

/** Layers that share a width. @source Vaswani et al. 2017, arXiv:1706.03762; norms before each part: Xiong et al. 2020, arXiv:2002.04745 */
export function transformer(starts: Starts, { dim, heads: count }: { dim: number; heads: number }) {
  const heads = attentionHeads(count, dim);
  const addNorm = (name: string) => {
    starts.set(`${name}.gain`, [dim], new Float32Array(dim).fill(1));
    starts.set(`${name}.bias`, [dim], new Float32Array(dim));
  };
  return {
    addNorm,
    addLayer(name: string): void {
      addNorm(`${name}.norm.1`);
      for (const part of ['query', 'key', 'value']) starts.add(`${name}.attention.${part}`, dim, heads.width);
      starts.add(`${name}.attention.out`, heads.width, dim, true);
      addNorm(`${name}.norm.2`);
      starts.add(`${name}.feed.hidden`, dim, 2 * dim, true);
      starts.add(`${name}.feed.out`, 2 * dim, dim, true);
    },
    /** A layer over rows: [rows, dim]. @param tokens rows that are attended to; default the rows themselves, of an encoder */
    layer(name: string, { tape, dropped }: Scene, rows: Taped, pairs: TokenPairs, tokens?: Taped): Taped {
      const normed = tape.layerNorm(rows, `${name}.norm.1`);
      const first = tape.add(rows, dropped(attention(tape, `${name}.attention`, normed, tokens ?? normed, pairs)));
      const inner = tape.layer(tape.layerNorm(first, `${name}.norm.2`), `${name}.feed.hidden`, 'relu');
      return tape.add(first, dropped(tape.layer(inner, `${name}.feed.out`)));
    },
  };

  function attention(tape: Tape, name: string, rows: Taped, from: Taped, { queries, tokens, offsets }: TokenPairs) {
    const [key, value] = [tape.times(from, `${name}.key`), tape.times(from, `${name}.value`)];
    const scores = heads.scores(tape, [tape.times(rows, `${name}.query`), queries], [[key, tokens]]);
    const shares = tape.segmentLogSoftmax(scores, offsets);
    return tape.layer(heads.sums(tape, shares, queries, [[value, tokens]], rows.rows), `${name}.out`);
  }
}
