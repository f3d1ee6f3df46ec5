/** Sources of each artifact, compared with a split that it must not contain. */
import {
  type ArtifactRecord,
  hasUnknownSources,
  type ProvenanceRecord,
  sampleSet,
  unpackIds,
} from '../../src/run/provenance.js';
import { plainText } from '../../datasets/sample-source.js';
import { askedText, isOpening, type KnownSamples } from './known-samples.js';

/** `found`: the split went into it; `allowed`: it touches the split in a disclosed way; `not known`: its sources were not noted. */
export type Verdict = 'found' | 'allowed' | 'not known' | 'none found';

/** One artifact, held against the split. */
export interface ArtifactRow {
  /** Owner: `run`, or an agent that was evaluated with it. */
  of: string;
  kind: ArtifactRecord['kind'];
  name: string;
  /** Samples it was made from, by split; only splits with any. */
  samples: Record<string, number>;
  /** Number of those that the data set does not hold. */
  foreign: number;
  /** Samples of the asked split that it was made from. */
  byId: number;
  /** Samples of the asked split whose words, start and gold stand under another id among those it was made from. */
  byContent: number;
  /** Number of those that are openings of one message. */
  openings: number;
  /** Examples written for it, and how many of them are questions of the asked split word for word. */
  texts?: { count: number; asked: number } | undefined;
  verdict: Verdict;
  /** Reason for the verdict where no number gives it. */
  why?: string;
}

/** One row an artifact of a record. @throws WorkbenchError `data` for ids that cannot be read */
export function artifactRows(of: string, record: ProvenanceRecord, known: KnownSamples): ArtifactRow[] {
  return record.artifacts.map((artifact) => {
    const row = countsOf(of, artifact, record, known);
    return { ...row, ...verdictOn(row, artifact, known) };
  });
}

type Counts = Omit<ArtifactRow, 'verdict' | 'why'> & { altered: boolean };

function countsOf(
  of: string,
  { kind, name, samples: setName, texts }: ArtifactRecord,
  { sets }: ProvenanceRecord,
  { splits, asked }: KnownSamples,
): Counts {
  const set = setName === undefined ? undefined : sets[setName];
  const ids = set ? unpackIds(set.ids, set.count, `set ${setName} of ${of}`) : [];
  const samples: Record<string, number> = {};
  const elsewhere = new Set<string>();
  const contents = new Map<string, string>();
  let foreign = 0;
  for (const id of ids) {
    // Splits of one data set may overlap, such as a file of the release and a part of it: the asked one goes first.
    const split = [asked, ...splits].find((one) => one.contents.has(id));
    if (!split) {
      foreign++;
      continue;
    }
    samples[split.name] = (samples[split.name] ?? 0) + 1;
    contents.set(id, split.contents.get(id)!);
    if (split !== asked) elsewhere.add(split.contents.get(id)!);
  }
  const repeated = asked.samples.filter(({ task: { id } }) => elsewhere.has(asked.contents.get(id)!));
  // What an agent said itself is noted without a content.
  const altered =
    set !== undefined && kind !== 'own answers' && foreign === 0 && sampleSet(contents).digest !== set.digest;
  return {
    ...{ of, kind, name, samples, foreign, altered },
    byId: samples[asked.name] ?? 0,
    byContent: repeated.length,
    openings: repeated.filter(isOpening).length,
    texts: texts && textsIn(texts, asked),
  };
}

function textsIn(texts: readonly string[], { samples }: KnownSamples['asked']) {
  const asked = new Set(samples.map(askedText));
  return { count: texts.length, asked: texts.filter((text) => asked.has(plainText(text))).length };
}

function verdictOn(
  { kind, foreign, altered, byId, byContent, openings, texts }: Counts,
  { facts = {} }: ArtifactRecord,
  { asked }: KnownSamples,
): Pick<ArtifactRow, 'verdict' | 'why'> {
  if (kind === 'own answers') {
    const why = 'what the agent itself said to earlier questions, no gold: scores depend on their order';
    return { verdict: 'allowed', why };
  }
  if (kind === 'choice' && byId > 0 && asked.role === 'valid') {
    return { verdict: 'allowed', why: 'the best on these was kept: their own score flatters' };
  }
  if (byId > 0) return { verdict: 'found' };
  if (altered) return { verdict: 'found', why: 'these ids stand for other samples in the data set' };
  if (foreign > 0) return { verdict: 'found', why: 'samples that the data set does not hold' };
  if (byContent > openings) return { verdict: 'found', why: 'the same samples under other ids' };
  if ((texts?.asked ?? 0) > 0) return { verdict: 'found', why: 'examples that are questions of the split' };
  if (kind === 'edge list') return onEdges(facts);
  if (hasUnknownSources(facts)) return { verdict: 'not known', why: 'their sources were not noted' };
  return { verdict: 'none found' };
}

function onEdges({ files, labels }: NonNullable<ArtifactRecord['facts']>): Pick<ArtifactRow, 'verdict' | 'why'> {
  if (Array.isArray(labels) && labels.includes('fixture')) {
    return { verdict: 'found', why: 'collected partly from gold answers, as its label `fixture` says' };
  }
  if (!Array.isArray(files)) return { verdict: 'not known', why: 'imported before its files were noted' };
  return { verdict: 'none found', why: `read from ${files.join(', ')}` };
}
