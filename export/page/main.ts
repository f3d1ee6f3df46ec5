/** The script of the agent: makes `kgwalk.openAgent` of the data of the page. */
import { Graph, type SharedGraph } from '../../src/kg/graph.js';
import { useKernels } from '../../src/nn/simd/kernels.js';
import { walkSvg } from '../../reports/plots/walks.js';
import type { PageAbout, PageAgent, PageReply } from '../contract.js';
import { unpack } from '../pack.js';
import {
  type Ask,
  dialogueAsk,
  type DialoguePart,
  linkAsk,
  type LinkPart,
  questionAsk,
  type QuestionPart,
} from './agents.js';
import { type LlamaPart, pageEncoder, type TextsPart } from './texts.js';

/** All data of a page, by the name of its part. */
export interface PageParts {
  about: PageAbout;
  graph: SharedGraph;
  agent: DialoguePart | QuestionPart | LinkPart;
  /** Absent for agents that read no text. */
  texts?: TextsPart | undefined;
  /** The model behind the encoder, where it is small enough. */
  model?: LlamaPart | undefined;
  /** WebAssembly of the kernels. */
  kernels: Uint8Array;
}

/** Walks that are drawn beside the chosen one. */
const mostDrawn = 5;

/** @param packed text of each part */
export async function openAgent(packed: Readonly<Record<string, string>>): Promise<PageAgent> {
  const opened = Object.entries(packed).map(async ([name, text]) => [name, await unpack(text)]);
  const parts = Object.fromEntries(await Promise.all(opened)) as unknown as PageParts;
  const { about, agent, texts, model } = parts;
  useKernels(parts.kernels);
  const graph = Graph.fromShared(parts.graph);
  const encoder = texts && pageEncoder(texts, model);
  const ask: Ask =
    agent.task === 'dialogues'
      ? await dialogueAsk(agent, graph, encoder!)
      : agent.task === 'questions'
        ? questionAsk(agent, graph, encoder!)
        : linkAsk(agent, graph);
  // What comes first compiles the code and makes tables.
  if (model) await encoder!.encode([about.kind]);
  if (about.examples[0]) await ask(about.examples[0]);
  const entities = (agent.task === 'links' ? agent.labels : undefined) ?? graph.entityNames;
  return {
    about,
    ask,
    names: (field) => (field === 'relation' ? graph.relationNames : entities),
    draw: ({ answers }: PageReply, chosen) => {
      // A tree of the others would be taken for its own.
      if (answers[chosen]!.walk.length === 0) return '';
      const others = answers.filter((_, place) => place !== chosen).slice(0, mostDrawn);
      return walkSvg({ walks: [answers[chosen]!, ...others] });
    },
  };
}

Object.assign(globalThis, { kgwalk: { openAgent } });
