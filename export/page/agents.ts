/** Agents of a page, one for each task, made of plain data by the code that answers in Node. */
import { beamAgent } from '../../agents/dialogue-walker/agent.js';
import { walkScorer } from '../../agents/dialogue-walker/policy.js';
import { encodeTasks, lastMessageText } from '../../agents/dialogue-walker/vectors.js';
import { policyFrom, type PolicyParts, type PolicySources } from '../../agents/dialogue-walker/walker-parts.js';
import { restoredRanker } from '../../agents/exact-walker/chains/chains-walker.js';
import { pathBack } from '../../agents/question-agent.js';
import { type RelationWalkerParts, relationWalkerAgent, walkingOf } from '../../agents/relation-walker/agent.js';
import { questionText } from '../../agents/relation-walker/question-vectors.js';
import { wordsOf } from '../../agents/readers/words/inputs.js';
import { excludedTopics } from '../../datasets/question.js';
import { askedQuestion } from '../../datasets/questions/asked-question.js';
import { resolveEntity, resolveRelation } from '../../datasets/links/resolve-names.js';
import { chainFrontiers, relationRange } from '../../src/kg/frontier.js';
import type { Graph, Path } from '../../src/kg/graph.js';
import { NameIndex } from '../../src/kg/name-index.js';
import { SimdExecutor } from '../../src/nn/simd/executor.js';
import type { StoredTensors } from '../../src/nn/parameters.js';
import { askedWalk } from '../../tasks/dialogues/ask.js';
import { namedPath } from '../../tasks/dialogues/score.js';
import { answersOf, reasonText } from '../../tasks/links/ask.js';
import type { Fields, PageAnswer, PageReply } from '../contract.js';
import type { PageEncoder } from './texts.js';

/** Answers that are shown, and found. */
const most = 10;

/** Answers of an agent. */
export type Ask = (fields: Fields) => Promise<PageReply>;

/** A dialogue walker. */
export interface DialoguePart {
  task: 'dialogues';
  parts: PolicyParts & { beamWidth: number; twoHopBonus: number };
  sources: PolicySources;
}

/** A relation walker. */
export interface QuestionPart {
  task: 'questions';
  parts: RelationWalkerParts;
  topicsReturn: boolean | undefined;
  /** Further names of entities. */
  aliases: ReadonlyMap<number, readonly string[]>;
}

/** An exact walker of chains. */
export interface LinkPart {
  task: 'links';
  name: string;
  dataset: string;
  tensors: StoredTensors;
  /** Display names, where they are not those of the graph. */
  labels?: readonly string[] | undefined;
}

/** Walks from an entity after a message. */
export async function dialogueAsk({ parts, sources }: DialoguePart, graph: Graph, encoder: PageEncoder): Promise<Ask> {
  const { settings, walkedRows, beamWidth, twoHopBonus } = parts;
  const policy = await policyFrom(new SimdExecutor(), parts, graph, sources);
  const of = { settings: settings.encoder, walker: settings.walker };
  const agent = beamAgent(
    walkedRows ? graph.withRows(walkedRows) : graph,
    async (tasks) =>
      walkScorer({ ...policy, featurizer: policy.featurizer.over(await encodeTasks(encoder, tasks, of)) }),
    { name: settings.name, beamWidth: Math.max(beamWidth, most), twoHopBonus },
  );
  return async ({ question = '', start = '' }) => {
    const task = askedWalk(graph, question, start);
    const [answer] = await agent.answer([task]);
    const answers = answer!.paths.slice(0, most).map(({ path, logProb }): PageAnswer => {
      const walk = namedPath(path, graph);
      return { text: walk.at(-1)?.[2] ?? task.startName, ...probability(Math.exp(logProb)), walk };
    });
    const nowhere = answers.length === 0 ? [`${task.startName} has no edges: there is nowhere to go.`] : [];
    return { answers, notes: [...nowhere, ...encoder.noteOn([lastMessageText(task)])] };
  };
}

/** Walks of sets of entities from the topic of a question. */
export function questionAsk(part: QuestionPart, graph: Graph, encoder: PageEncoder): Ask {
  const { parts, topicsReturn, aliases } = part;
  const names = new NameIndex(graph, aliases);
  const agent = relationWalkerAgent({ name: parts.name, ...walkingOf(parts, new SimdExecutor(), graph, encoder) });
  const client = { remaining: 0, byLikelihood: false, decide: () => Promise.reject(new Error('walkers ask no model')) };
  return async ({ question = '' }) => {
    const { task } = askedQuestion(question, graph, { names, topicsReturn });
    const { entities, chain = [], confidence = 0, stop } = await agent.answer(task, { client, trace: () => {} });
    const topics = task.topics.map(({ entity }) => entity);
    const frontiers = chainFrontiers(graph, topics, chain, excludedTopics(task));
    const { entities: ends, counts } = frontiers.at(-1)!;
    const answers = entities.slice(0, most).map((entity): PageAnswer => {
      const score = counts[ends.indexOf(entity)]!;
      const walk = namedPath(pathBack(graph, frontiers, chain, entity), graph);
      return { text: graph.entityName(entity)!, score, shown: score === 1 ? '1 walk' : `${score} walks`, walk };
    });
    const along = chain.map((relation) => graph.relationNames[relation]).join(' → ');
    const left = entities.length > most ? [`… and ${entities.length - most} more.`] : [];
    const why = answers.length > 0 ? `Probability ${confidence.toFixed(4)}, along ${along}.` : `No answer: ${stop}.`;
    const text = questionText(task, parts.settings.keepName);
    const notes = [...left, why, ...encoder.noteOn([text, ...wordsOf(text)])];
    return { answers, probability: confidence, notes };
  };
}

/** Ends of chains of relations from the head. */
export function linkAsk({ name, dataset, tensors, labels = [] }: LinkPart, graph: Graph): Ask {
  const shown = labels.length > 0 ? labels : graph.entityNames;
  const known = {
    tailsOf: (head: number, relation: number) => graph.tails.slice(...relationRange(graph, head, relation)),
  };
  const data = { graph, labels: shown, manifest: { name: dataset }, known };
  const opened = { ranker: restoredRanker(name, graph, tensors), pooling: 'max' as const };
  return async (fields) => {
    const head = resolveEntity(data, fields.head ?? '');
    const relation = resolveRelation(data, fields.relation ?? '');
    const found = await answersOf({ head, relation }, data, opened, most);
    const answers = found.map(({ entity, id, score, known: inTrain, reasons = [] }): PageAnswer => {
      const chain = reasons.find((reason) => reason.chain)?.chain ?? [];
      const path = pathAlong(
        graph,
        head,
        chain.map((step) => graph.relationId(step)),
        graph.entityId(id),
      );
      const walk = path.map(([from, by, to]) => [shown[from]!, graph.relationNames[by]!, shown[to]!] as const);
      const from = [...(inTrain ? ['a fact of train'] : []), ...reasons.map(reasonText)].join('; ');
      return { text: entity, ...probability(Math.exp(score)), from, walk };
    });
    const unseen = graph.degree(head) === 0 ? [`train has no edge of ${shown[head]}: no walk leaves it.`] : [];
    return { answers, notes: unseen };
  };
}

function pathAlong(graph: Graph, head: number, chain: readonly number[], end: number): Path {
  const frontiers = chainFrontiers(graph, [head], chain);
  return frontiers.at(-1)!.entities.includes(end) ? pathBack(graph, frontiers, chain, end) : [];
}

const probability = (share: number) => ({ score: share, share, shown: `${(100 * share).toPrecision(3)} %` });
