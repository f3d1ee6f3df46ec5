/** A turn of a dialogue as a question, and its answer as walks from the entity that the turn starts from. */
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import { sameContent } from '../../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import { verbalizePath } from '../../../envs/dialogue-walk/state-text.js';
import { type Graph, type Path, pathKey } from '../../../src/kg/graph.js';
import type { ContextBlock } from '../../../src/llm/decision.js';
import type { QuestionAnswer } from '../../question-agent.js';
import { outPaths } from '../ark/paths.js';
import { factOf } from '../facts.js';

/** Edges of a walk, at most. */
export const longestWalk = 2;

/** The last message, with the name of the start before it where it does not mention it. The number of hops is not given. */
export function turnQuestion({ id, messages, start, startName }: WalkTask): QuestionTask {
  const said = messages.at(-1)?.text.trim() ?? '';
  const at = said.toLowerCase().indexOf(startName.toLowerCase());
  const question = at >= 0 ? said : [startName, said].filter(Boolean).join(': ');
  const begin = Math.max(at, 0);
  const topic = { name: startName, entity: start, span: [begin, begin + startName.length] as const };
  return { id, subset: 'turns', question, topics: [topic], form: 'entities' };
}

/** The same with its gold: the relations of the path and where it ends. */
export function turnSample(graph: Graph, sample: WalkSample): QuestionSample {
  const { path, target, inGraph } = sample.gold;
  const answers = target >= 0 ? [{ name: graph.entityNames[target]!, entity: target }] : [];
  const chains = inGraph ? [path.map(([, relation]) => relation)] : [];
  return sameContent({ task: turnQuestion(sample.task), gold: { answers, chains } }, sample);
}

/** Lines said and walked before the last message, which walkers read, too. The first to go where a prompt is too long. */
export function turnContext(graph: Graph, { messages, earlierPaths }: WalkTask): ContextBlock[] {
  const said = messages.slice(0, -1).map(({ sender, text }) => `${sender}: ${text}`);
  const walked = earlierPaths.map((path) => verbalizePath(graph, path));
  const blocks: ContextBlock[] = [
    { label: 'Dialogue', lines: said, role: 'history' },
    { label: 'Earlier walks', lines: walked, role: 'history' },
  ];
  return blocks.filter(({ lines }) => lines.length > 0);
}

/**
 * Walks of one or two edges that an answer stands for, best first: to each of its entities along the answer's chain, else over the
 * facts of its evidence, else over the fewest edges; a walk to every entity, then a second one to each. Behind them the walks of
 * its other chains. Equals are in the order of the graph. What no such walk leads to is left out.
 */
export function answerWalks(
  graph: Graph,
  start: number,
  { entities, chain, chains = [], evidence }: Pick<QuestionAnswer, 'entities' | 'chain' | 'chains' | 'evidence'>,
  most: number,
): Path[] {
  if (start < 0) return [];
  const ranked = [...new Map([...(chain ? [chain] : []), ...chains].map((one) => [one.join(), one])).keys()];
  const places = new Map(ranked.map((key, place) => [key, place]));
  const facts = new Set(evidence.map((fact) => fact.join('\u0000')));
  const isShown = (path: Path) => path.every((triple) => facts.has(factOf(graph, triple).join('\u0000')));
  const best = new Map(entities.map((entity) => [entity, { grade: Infinity, walks: [] as Path[] }]));
  const along: Path[][] = ranked.map(() => []);
  for (const path of outPaths(graph, start)) {
    const place = ranked.length > 0 ? places.get(path.map(([, relation]) => relation).join()) : undefined;
    if (place !== undefined && along[place]!.length < most) along[place]!.push(path);
    const found = best.get(path.at(-1)![2]);
    if (!found) continue;
    const grade = place ?? ranked.length + (facts.size > 0 && isShown(path) ? 0 : path.length);
    if (grade < found.grade) Object.assign(found, { grade, walks: [] });
    if (grade === found.grade && found.walks.length < most) found.walks.push(path);
  }
  const turns = Math.max(0, ...[...best.values()].map(({ walks }) => walks.length));
  const perTurn = Array.from({ length: turns }, (_, turn) =>
    [...best.values()].flatMap(({ walks }) => walks.slice(turn, turn + 1)),
  );
  const all = [...perTurn.flat(), ...along.flat()];
  return [...new Map(all.map((path) => [pathKey(path), path])).values()].slice(0, most);
}
