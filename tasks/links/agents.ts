/** Rankers of entities: a run, an embedding, rules, or random walks. */
import { zeroShotRanker } from '../../agents/exact-walker/agent.js';
import { createHash } from 'node:crypto';
import { type EnsembleWeights, type LinkAgentResources, linkAgents, linkMethods } from '../../agents/link-agents.js';
import type { LinkRanker, RankedQuestion } from '../../agents/link-ranker.js';
import { ensembleCases, ensembleRanker, fitEnsemble, meanRanker } from '../../agents/link-ensemble.js';
import { ruleRanker } from '../../agents/rules/rule-ranker.js';
import { linkQuestionSamples } from '../../agents/prompted/turns/link-question.js';
import { encoderModelOf } from '../../agents/trained-run.js';
import { requireSameRelations } from '../../datasets/links/inductive-split.js';
import { type LinkDataset, linksHash, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { knownAnswers, withInverses } from '../../src/embedding/known-answers.js';
import { pickTriples, sampledTriples, type TripleColumns } from '../../src/kg/graph.js';
import { sampled } from '../../src/run/seeds.js';
import { openOracle, oracleRates } from '../../evaluation/oracle/open-oracle.js';
import type { AskOptions } from '../../evaluation/score.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { printable } from '../../src/run/printable.js';
import { madeFrom } from '../../src/run/provenance.js';
import type { RunInfo } from '../../src/run/records.js';
import { executorOf } from '../../src/nn/open-executor.js';
import { openLinkScorer } from '../../agents/embeddings/link-scorers.js';
import { settingsOfRun, trainSettings } from '../../agents/train-settings.js';
import { type EvaluationFlags, threadsOf, wholeNumber } from '../flags.js';
import { weightsOf } from '../named-runs.js';
import { findRun } from '../../src/run/run-folder.js';
import { agentOptions, callsOf, openByName, refuseUnread, taskClient } from '../open-agent.js';
import { membersOf, type OpenedAgent, type OpenOptions, type Resolved, type Trained } from '../task.js';
import { type LinkData, rankerAsker } from './data.js';
import { queriesOf } from '../../agents/link-ranks.js';
import type { LinkRow } from './row.js';
import { type RuleBaseline, ruleBaseline } from './rules.js';
import { type LinkSample, linkScorer } from './score.js';

/** A ranker and what the record says of it; close it after use. */
export interface OpenedRanker extends Pick<
  OpenedAgent<LinkSample, RankedQuestion, LinkRow>,
  'about' | 'hashes' | 'close'
> {
  ranker: LinkRanker;
  /** Name in records. */
  agent: string;
  note?: string | undefined;
  /** Which of the ranker's rankings its run was chosen by. */
  pooling: 'max' | 'sum';
  /** Receives the model’s calls before the first query, where the agent asks one. */
  useCalls?: ((openCalls: AskOptions['openCalls']) => void) | undefined;
}

/** Relations that will be asked, by plain ids: no rules of others are mined. Default all. */
type RankerOptions = OpenOptions & { relations?: ReadonlySet<number> | undefined };

const asks = (agent: string | undefined): agent is string => agent !== undefined && linkAgents.asksModel(agent);

/** The simulated model of `oracle:0.1`; undefined where `spec` names a real one. */
export async function openSimulated(
  spec: string,
  { dataset: { graph, labels }, samples }: LinkData,
): Promise<LanguageModel | undefined> {
  const rates = oracleRates(spec);
  if (!rates) return undefined;
  const queries = samples.map(({ task, answer }) => ({ ...task, answer }));
  return openOracle({ graph, samples: linkQuestionSamples(graph, labels, queries), ...rates, seed: 0 });
}

/** @throws WorkbenchError `usage` for options that none of the agents reads */
export function refuseIdle(resolved: readonly Resolved[], flags: EvaluationFlags): void {
  const walks = resolved.some(({ trained }) => trained && drawsWalks(trained.run));
  const embeds = resolved.some(({ agent, switches: { of } }) => {
    return [agent, ...namesIn(of)].some((one) => one === 'transe' || one === 'bilinear');
  });
  const prompted = resolved.some(({ agent }) => asks(agent));
  const calls = Object.fromEntries(
    (['model', 'budget', 'budgetMode'] as const).map((key) => [key, prompted || 'an agent that asks a model']),
  );
  refuseUnread(resolved, flags, {
    ...calls,
    beamWidth: walks || 'a run that draws walks',
    backend: walks || 'a run that draws walks',
    config: embeds || 'transe or bilinear',
    threads: embeds || 'transe or bilinear',
    // Exact walkers encode names of relations that they have not seen.
    encoder:
      prompted || resolved.some(({ trained }) => trained && encoderModelOf(trained.run)) || 'a run with an encoder',
  });
}

/** The agent with its way of being asked and scored. */
export async function openScoredAgent(
  which: Resolved,
  { dataset, horizon }: LinkData,
  options: OpenOptions,
): Promise<OpenedAgent<LinkSample, RankedQuestion, LinkRow>> {
  const { ranker, agent, note, pooling: _, useCalls, ...opened } = await openRanker(which, dataset, horizon, options);
  return {
    ...opened,
    asker: { ...rankerAsker(ranker, dataset, note, useCalls), name: agent },
    scorer: linkScorer(dataset, horizon),
  };
}

/**
 * Opens what was resolved; an embedding that is not kept yet is trained.
 * @param horizon steps of a walk of untrained agents
 * @param own options of untrained agents; default those of a preset that is named, else of the last run, else the usual ones
 */
export async function openRanker(
  which: Resolved,
  dataset: LinkDataset,
  horizon: number,
  options: RankerOptions,
  own?: LinkOptions,
): Promise<OpenedRanker> {
  const { trained } = which;
  if (trained) return openTrained(trained, dataset, options);
  let openCalls: AskOptions['openCalls'] | undefined;
  const { made, about, close, hashes } = await openByName(
    linkAgents,
    which,
    own ?? (await linkOptions(horizon, options)),
    (read, { encoder }) =>
      resourcesOf(dataset, read, options, {
        encoder,
        taskClients: () => (id) => taskClient(openCalls!({ id })),
      }),
    options.encoder,
  );
  const { ranker, table, source, agent, note } = made;
  // Steps of walks or chains, and the seed of an embedding, of agents that have any.
  const { seed, horizon: steps } = about.options as Partial<LinkOptions>;
  return {
    ...{ ranker, agent, note, pooling: 'max', close },
    ...(asks(which.agent) && { useCalls: (open) => void (openCalls = open) }),
    about: {
      ...about,
      ...(asks(which.agent) && callsOf(options.flags)),
      ...(seed !== undefined && { seed }),
      ...(steps !== undefined && { horizon: steps }),
    },
    hashes: {
      ...hashes,
      ...(table !== undefined && { table: await sha256File(table) }),
      ...(source !== undefined && { source }),
    },
  };
}

const drawsWalks = ({ config }: RunInfo) => linkMethods.of(config).options?.includes('beamWidth') ?? false;

async function openTrained(trained: Trained, dataset: LinkDataset, { flags }: OpenOptions): Promise<OpenedRanker> {
  const beamWidth = wholeNumber(flags.beamWidth, '--beam-width', 1);
  const backend = flags.backend === undefined ? undefined : executorOf(flags.backend);
  const opened = await linkMethods.load(membersOf(trained), { dataset, beamWidth, backend, modelPath: flags.encoder });
  return { ...opened, agent: 'walker', hashes: { checkpoint: await weightsOf(trained) } };
}

/** @param asked is at hand: often the same */
const learnedOn = (name: string, asked: LinkDataset): Promise<LinkDataset> | LinkDataset =>
  name === asked.manifest.name ? asked : loadLinkDataset(name);

/** Options of untrained agents, by value. */
async function linkOptions(horizon: number, { flags, runs, work }: OpenOptions) {
  const run = runs.at(-1);
  const { transe, bilinear, seed } =
    flags.config === undefined ? (run ? settingsOfRun(run) : trainSettings.parse({})) : await work.preset(flags.config);
  const enabled = true;
  const embeddings = { transe: { ...transe, enabled }, bilinear: { ...bilinear, enabled } };
  return agentOptions(flags, run, { ...embeddings, horizon, seed, checkpoint: flags.checkpoint });
}
type LinkOptions = Awaited<ReturnType<typeof linkOptions>>;

function resourcesOf(
  dataset: LinkDataset,
  read: LinkOptions,
  options: RankerOptions,
  asking: Pick<LinkAgentResources, 'encoder' | 'taskClients'>,
): LinkAgentResources {
  const { progress, signal } = options.work;
  const { relations } = options;
  return {
    ...{ ...asking, dataset: dataset.manifest.name, named: dataset.graph, graph: dataset.graph },
    get labels() {
      return dataset.labels;
    },
    get seed() {
      return read.seed;
    },
    get horizon() {
      return read.horizon;
    },
    async rules(from) {
      const source = from === undefined ? dataset : await learnedOn(from, dataset);
      requireSameRelations(dataset, source);
      const line = progress('mine rules', source.graph.numRelations, 'relations');
      const onProgress = (done: number) => line.update(done);
      // Constants are entities of the other data set.
      const uses = from === undefined ? undefined : (['none'] as const);
      const { ranker, ...mined } = await ruleBaseline(source, { signal, onProgress, relations, uses });
      line.finish();
      const note = ruleNote(mined, from);
      if (from === undefined) return { ranker, note };
      const { rules, ranking, constants } = mined;
      const moved = ruleRanker(dataset.graph, rules, { rankings: [ranking], constants });
      return { ranker: moved, note, source: linksHash(source.manifest) };
    },
    zeroShot(file) {
      const { ranker, seal, learnedOn: trained } = zeroShotRanker(file, dataset.graph);
      const note = `relation vectors from how relations meet, trained on ${trained}`;
      return Promise.resolve({ ranker, note, source: seal });
    },
    ensemble: (of, weights) => openEnsemble(of, weights, dataset, read, options),
    async embedding(kind, imported) {
      const threads = threadsOf(options.flags.threads);
      const usual = trainSettings.parse({});
      const settings =
        imported === undefined
          ? { ...usual, [kind]: read[kind], seed: read.seed }
          : { ...usual, [kind]: { ...usual[kind], imported } };
      const { scorer, file } = await openLinkScorer(kind, dataset, settings, { threads, progress, signal });
      return { scorer, file };
    },
  };
}

function ruleNote({ rules, ranking, constants }: Omit<RuleBaseline, 'ranker'>, from: string | undefined): string {
  const chains = rules.chains.flat();
  const longest = chains.reduce((most, { chain }) => Math.max(most, chain.length), 0);
  const others = rules.constants.reduce((sum, { answers }) => sum + answers.length, 0);
  const where = from === undefined ? 'train' : `train of ${from}`;
  const constantsText = {
    none: '',
    head: ` and ${others} rules with constants, those of the head first`,
    answers: ` and ${others} rules with constants, those of known answers first`,
  };
  return `${chains.length} chains of up to ${longest} relations${constantsText[constants]}, mined on ${where}; taken together by ${ranking} (chosen on valid)`;
}

/** Names with pluses between. */
const namesIn = (of: unknown): string[] => (typeof of === 'string' && of !== '' ? of.split('+') : []);

/** Triples of valid that weights are fitted on, each asked for in both directions; of weights by relation those of each. */
const fittedTriples = 500;
const triplesOfRelation = 20;
/** Pull of a direction's weights on those of its relations: docs/decisions/link-queries.md. */
const pull = 30;

/** Seeded sample of up to `count` triples of each relation. @param name sub-seed of the draws */
function sampledOfEach(triples: TripleColumns, count: number, name: string): TripleColumns {
  const ofRelations = Map.groupBy(triples.relations.keys(), (index) => triples.relations[index]!);
  return pickTriples(triples, Int32Array.from([...ofRelations.values()].flatMap((own) => sampled(own, count, name))));
}

/** @throws WorkbenchError `usage` for members that are no exact walkers, embeddings or rules, or too few of them */
async function openEnsemble(
  of: string,
  weights: EnsembleWeights,
  dataset: LinkDataset,
  read: LinkOptions,
  options: RankerOptions,
): Promise<{ ranker: LinkRanker; note: string; source: string }> {
  const names = namesIn(of);
  const wanted = `expected two or more of exact walkers, ${ensembled.join(', ')}`;
  const refused = (got: string) =>
    new WorkbenchError('usage', `${wanted}, got ${got}, at of=${of}`, {
      hint: 'Such as --agent ensemble:of=RUN+bilinear.',
    });
  if (names.length < 2) throw refused(names.length === 0 ? 'none' : 'one');
  const members: OpenedRanker[] = [];
  for (const name of names) {
    const found = findRun(name);
    if (found && drawsWalks(found.run)) throw refused(`${name}, which draws walks`);
    const which: Resolved | undefined = found
      ? { name, switches: {}, trained: { checkpoint: read.checkpoint, ...found } }
      : ensembled.includes(name)
        ? { name, agent: name, switches: {} }
        : undefined;
    if (!which) throw refused(printable(name, 80));
    members.push(await openRanker(which, dataset, read.horizon, options, read));
  }
  const rankers = members.map(({ ranker }) => ranker);
  const source = createHash('sha256')
    .update(JSON.stringify(members.map(({ hashes }) => hashes)))
    .digest('hex');
  if (weights === 'equal') return { ranker: meanRanker(rankers), note: `${names.join(', ')}, weighed alike`, source };
  const { graph, train, valid } = dataset;
  const plain = graph.numRelations / 2;
  const known = withInverses(knownAnswers([train, valid]), plain);
  const triples =
    weights === 'relation'
      ? sampledOfEach(valid, triplesOfRelation, 'links/ensemble')
      : sampledTriples(valid, fittedTriples, 'links/ensemble');
  const { length: count } = triples.heads;
  madeFrom('choice', 'weights of an ensemble', { graph: graph.hash, split: 'valid', triples: count });
  const line = options.work.progress('fit the weights on valid', 2 * count, 'queries');
  let done = 0;
  const fitted: Float64Array[] = [];
  const ofRelations = new Map<number, Float64Array>();
  for (const direction of ['tail', 'head'] as const) {
    const queries = queriesOf(graph, triples, direction);
    const others = (head: number, relation: number) => known.tailsOf(head, relation);
    const cases = await ensembleCases(rankers, queries, others, () => line.update(++done));
    const own = fitEnsemble(cases, rankers.length);
    fitted.push(own);
    if (weights !== 'relation') continue;
    for (const [relation, some] of Map.groupBy(cases, (_, query) => queries.relations[query]!)) {
      ofRelations.set(relation, fitEnsemble(some, rankers.length, { weights: own, strength: pull }));
    }
  }
  const words = (own: Float64Array) => names.map((name, k) => `${name} ${own[k]!.toFixed(2)}`).join(', ');
  const allWords = `tails ${words(fitted[0]!)}; heads ${words(fitted[1]!)}`;
  line.finish(allWords);
  const byRelation = ofRelations.size > 0 ? `, those of ${ofRelations.size} relations drawn to them` : '';
  return {
    ranker: ensembleRanker(rankers, (relation) => ofRelations.get(relation) ?? fitted[relation < plain ? 0 : 1]!),
    note: `weights fitted on ${count} triples of valid: ${allWords}${byRelation}`,
    source,
  };
}

const ensembled: readonly string[] = ['transe', 'bilinear', 'rules', 'zero-shot'];
