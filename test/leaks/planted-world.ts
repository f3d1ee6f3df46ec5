/** A split on which something can be planted, and a graph that was cut to the entities of its dialogues. */
import type { QuestionSample } from '../../datasets/question.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { artifactRows, type ArtifactRow } from '../../evaluation/leaks/artifact-rows.js';
import { knownSplit, type AnySample, type KnownSamples } from '../../evaluation/leaks/known-samples.js';
import { collectProvenance, ProvenanceNotes } from '../../src/run/provenance.js';
import type { Graph } from '../../src/kg/graph.js';
import { filmGraph, filmQuestions } from '../fixtures/toy-questions.js';
import { graphOf, sampleOf, toyTwoHop } from '../fixtures/toy-walks.js';

/** A data set with what agents may learn from and what they must not. */
export interface Planted<Sample extends AnySample> {
  graph: Graph;
  train: readonly Sample[];
  test: readonly Sample[];
  known: KnownSamples<Sample>;
}

function planted<Sample extends AnySample>(graph: Graph, train: readonly Sample[], test: readonly Sample[]) {
  const splits = [
    knownSplit('train', 'train', train),
    knownSplit('valid', 'valid', []),
    knownSplit('test', 'test', test),
  ];
  return { graph, train, test, known: { graph, splits, asked: splits[2]! } };
}

export function plantedDialogues(): Planted<WalkSample> {
  const { graph, samples } = toyTwoHop();
  return planted(graph, samples.slice(0, 3), samples.slice(3));
}

export function plantedQuestions(): Planted<QuestionSample> {
  const graph = filmGraph();
  const samples = filmQuestions(graph);
  return planted(graph, samples.slice(0, 4), samples.slice(4));
}

/** The rows of all that `make` makes. */
export async function rowsOf(known: KnownSamples, make: () => unknown): Promise<ArtifactRow[]> {
  const notes = new ProvenanceNotes();
  await collectProvenance(notes, async () => make());
  return artifactRows('run', notes.record(), known);
}

/**
 * Starts that each lead to two well-known ends; 120 of them also to a separate end, which is in the graph because the
 * test split needs it. Train takes the first well-known end of each start.
 */
export function cutWorld(): Planted<WalkSample> {
  const starts = Array.from({ length: 200 }, (_, i) => i);
  const own = (i: number) => i < 120;
  const known = (i: number) => `known-${i % 10}`;
  const graph = graphOf(
    'dialogue',
    starts.flatMap((i) => [
      [`start-${i}`, 'leads to', known(i)] as const,
      [`start-${i}`, 'leads to', known(i + 1)] as const,
      ...(own(i) ? [[`start-${i}`, 'leads to', `own-${i}`] as const] : []),
    ]),
  );
  const sample = (split: string, i: number, end: string) =>
    sampleOf(graph, `${split}-${i}#1`, `${split} ${i}`, `start-${i}`, [[`start-${i}`, 'leads to', end]]);
  return planted(
    graph,
    starts.map((i) => sample('train', i, known(i))),
    starts.map((i) => sample('test', i, own(i) ? `own-${i}` : known(i))),
  );
}
