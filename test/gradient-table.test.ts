import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Gradients written by hand, and the tests that measure each by finite differences. */
const table: Readonly<Record<string, string | string[]>> = {
  // Operations of the tape, on every executor.
  'src/nn/tape.ts': 'src/nn/operations.test.ts',
  'src/nn/simd/tape.ts': 'src/nn/operations.test.ts',
  'src/nn/simd/executor.ts': 'src/nn/operations.test.ts',
  'src/nn/tfjs/executor.ts': 'src/nn/operations.test.ts',
  'src/nn/webgpu/executor.ts': 'src/nn/operations.test.ts',
  'src/nn/webgpu/training-kernels.ts': 'trainers/ppo/executors.test.ts',
  'src/nn/bidirectional.ts': 'src/nn/operations.test.ts',
  // Losses in closed form that enter a network, and where they enter it.
  'agents/prompted/hops/hop-predictor.ts': 'agents/prompted/hops/hop-predictor.test.ts',
  'trainers/clone.ts': 'trainers/cloning/objective.test.ts',
  'agents/dialogue-walker/expected-reward.ts': 'agents/dialogue-walker/expected-reward.test.ts',
  'trainers/ppo-loss.ts': 'trainers/ppo/objective.test.ts',
  'trainers/ppo-step.ts': 'trainers/ppo/scalar-ppo.test.ts',
  // TransE, without a network: both norms, losses and sides; epochs by the oracle in plain TypeScript.
  'agents/embeddings/transe/kernel.ts': 'agents/embeddings/transe/simd-training.test.ts',
  // DistMult and ComplEx: the parts by differences, and a whole step by what it moves.
  'agents/embeddings/bilinear/gradients.ts': 'agents/embeddings/bilinear/gradients.test.ts',
  'agents/embeddings/bilinear/step.ts': 'agents/embeddings/bilinear/train-bilinear.test.ts',
  // Networks made of these operations.
  'src/llama/forward.ts': 'src/llama/forward.long.test.ts',
  'src/llama/attention.ts': 'src/llama/forest.test.ts',
  'agents/dialogue-walker/heads/candidate.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/pa-mlp.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/kg-cruse.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/seq2path.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/hitkg.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/transformer.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/attention.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/attn-io.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/diff-kg.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/embedded-head.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/seq2seq.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/dialkg-walker.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/heads/tri-lstm.ts': 'agents/dialogue-walker/heads.test.ts',
  'agents/dialogue-walker/words/word-encoder.ts': 'agents/dialogue-walker/words/word-encoder.test.ts',
  'agents/dialogue-walker/critic.ts': 'agents/dialogue-walker/critic.test.ts',
  'agents/readers/embed-kgqa/question-side.ts': 'agents/readers/embed-kgqa/embed-kgqa.test.ts',
  'agents/readers/embed-kgqa/question-step.ts': 'agents/readers/embed-kgqa/embed-kgqa.test.ts',
  'agents/readers/entities/reasoning.ts': 'agents/readers/entities/networks.test.ts',
  'agents/readers/entities/nsm-network.ts': 'agents/readers/entities/networks.test.ts',
  'agents/readers/entities/share-loss.ts': 'agents/readers/entities/networks.test.ts',
  'agents/readers/entities/kv-mem.ts': 'agents/readers/entities/networks.test.ts',
  'agents/readers/entities/uni-kgqa.ts': 'agents/readers/entities/networks.test.ts',
  'agents/readers/entities/entity-table.ts': 'agents/readers/entities/networks.test.ts',
  'agents/relation-walker/network.ts': 'agents/relation-walker/relation-actor.test.ts',
  'agents/relation-walker/word-network.ts': 'agents/relation-walker/relation-actor.test.ts',
  'agents/path-walker/state-network.ts': 'agents/path-walker/network.test.ts',
  'src/nn/recurrent.ts': 'agents/path-walker/network.test.ts',
  'agents/path-walker/network.ts': 'agents/path-walker/network.test.ts',
  'agents/readers/chains/objective.ts': 'agents/readers/chains/objective.test.ts',
  'agents/exact-walker/chains/mixture.ts': 'agents/exact-walker/chains.test.ts',
  'agents/exact-walker/messages/message-network.ts': 'agents/exact-walker/messages.test.ts',
  // The step itself, compared with a scalar version of the paper's.
  'src/nn/adamw.ts': 'src/nn/adamw.test.ts',
};

const marks = /\.result\(|\.taped\(|Grad\(\s/;

test('every gradient that is written by hand is in the table of those that are checked', () => {
  const sources = ['src', 'agents', 'trainers', 'models'].flatMap((folder) =>
    (readdirSync(folder, { recursive: true }) as string[])
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const written = sources.filter((file) => marks.test(readFileSync(file, 'utf8')));
  expect(written.length).toBeGreaterThan(7);
  expect(
    written.filter(
      (file) =>
        !(file in table) &&
        !file.includes('/assembly/') &&
        !['src/nn/executor.ts', 'src/nn/recording.ts'].includes(file),
    ),
  ).toEqual([]);
  for (const [file, checkedBy] of Object.entries(table)) {
    const there = existsSync(file) && [checkedBy].flat().every((test) => existsSync(join('test', test)));
    expect({ file, there }).toEqual({ file, there: true });
  }
});
