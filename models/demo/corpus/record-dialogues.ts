/** Runs LLM-ARK's prompting baselines over train dialogues and keeps what they ask with the right replies. */
import { arkAgent, type ArkPrompt, arkPrompts } from '../../../agents/prompted/ark/ark-agent.js';
import { outPathChoices } from '../../../agents/prompted/ark/paths.js';
import { type WalkSample, walkSamples } from '../../../datasets/walk-sample.js';
import { canonicalPath, type Graph, pathKey } from '../../../src/kg/graph.js';
import { createClients } from '../../../src/llm/client/create-clients.js';
import type { Decision, ReplyOf } from '../../../src/llm/decision.js';
import { Rng } from '../../../src/run/seeds.js';
import { throwIfStopped } from '../../../src/run/stop.js';
import { forgetfulStore } from './forgetful-store.js';
import { recordingModel, type RecordedDecision } from './recording-model.js';
import type { RecordOptions, SourcedDecision } from './record-questions.js';
import type { CorpusWorld } from './world.js';

/** Lines of out-paths, as by default; where they are more they are grouped. */
const maxChoices = 40;

/** Endless; each round asks every sample once, by one of the three prompts. */
export async function* recordedDialogues(
  { graph, dialogues }: CorpusWorld['walks'],
  { seed, contextLength, countTokens, signal }: RecordOptions,
): AsyncGenerator<SourcedDecision> {
  const samples = walkSamples(dialogues, graph).filter(({ gold }) => gold.inGraph);
  for (let round = 0; samples.length > 0; round++) {
    const rng = Rng.named(seed, 'corpus/dialogues', round);
    for (const index of rng.shuffle(Int32Array.from(samples.keys()))) {
      throwIfStopped(signal);
      const sample = samples[index]!;
      const records: RecordedDecision[] = [];
      const model = recordingModel({
        ...{ contextLength, countTokens, teach: teachWalk(graph, sample) },
        onRecord: (record) => records.push(record),
      });
      const store = forgetfulStore();
      const clients = createClients({ model, store, budget: null, budgetMode: 'strict', seed, signal });
      const prompt: ArkPrompt = arkPrompts[rng.integer(arkPrompts.length)]!;
      const agent = arkAgent(prompt, {
        ...{ graph, maxChoices, beamWidth: 1 },
        clientFor: (id) => ({ client: clients.clientFor(id).client, cost: () => ({}) }),
      });
      await agent.answer([sample.task]);
      const source = { of: 'dialogues', id: sample.task.dialogueId } as const;
      for (const record of records) yield { ...record, source, rightTexts: ({ meant }) => meant.map(() => false) };
    }
  }
}

/** The path that was really chosen: by its number where paths are offered, else in words. */
function teachWalk(graph: Graph, { task, gold }: WalkSample) {
  const path = canonicalPath(gold.path, graph.equalRelation);
  const offered = outPathChoices(graph, task.start, maxChoices);
  const chosen = offered.find(({ paths }) => paths.some((one) => pathKey(one) === pathKey(path)))?.text;
  const steps = path.map(
    ([head, relation, tail]) =>
      `${graph.entityNames[head]!} | ${graph.relationNames[relation]!} | ${graph.entityNames[tail]!}`,
  );
  return (decision: Decision) => {
    const reply = rightWalk(decision, chosen, steps);
    const known = steps.length > 0 && !('choices' in reply && reply.choices.length === 0);
    return { right: known ? reply : undefined, certain: reply, reply };
  };
}

function rightWalk(decision: Decision, chosen: string | undefined, steps: string[]): ReplyOf<Decision> {
  if (decision.kind !== 'choose-many') return { answers: steps };
  const choice = decision.candidates.findIndex(({ text }) => text === chosen);
  return { choices: choice < 0 ? [] : [choice] };
}
