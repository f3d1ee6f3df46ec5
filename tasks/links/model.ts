/** A run or an agent that answers link queries, for programs. */
import { trainSettings } from '../../agents/train-settings.js';
import { silentProgress } from '../../src/run/progress.js';
import { usualFlags } from '../flags.js';
import { resolve } from '../named.js';
import { type Answer, openAskLink } from './ask.js';
import { links } from './index.js';

/** Options of `loadLinkModel`. */
export interface LoadLinkOptions {
  /** Data set whose graph is asked: for an agent, and for a run on another than its own. */
  dataset?: string;
  /** Checkpoint of runs: `best` (default), `last`, a name or a step. */
  checkpoint?: string;
  /** Switches of an agent, such as `from=fb`. */
  set?: string[];
}

/** Answers link queries; close it after use. */
export interface LinkModel {
  /**
   * The best answers of (head, relation, ?) with their reasons; `~relation` asks for heads.
   * @param head name or id of an entity @param k number of answers
   * @throws WorkbenchError `usage` for an unknown name
   */
  predict(head: string, relation: string, k?: number): Promise<Answer[]>;
  close(): Promise<void>;
}

/**
 * Opens what `kgwalk ask` opens on links.
 * @param name folder or name of a run, RUN+RUN for several as one, or an agent such as `rules`
 * @throws WorkbenchError `usage` for a name that is neither, `data` for weights of other data
 */
export function loadLinkModel(
  name: string,
  { dataset, checkpoint = 'best', set = [] }: LoadLinkOptions = {},
): Promise<LinkModel> {
  const flags = { ...usualFlags, dataset, checkpoint, set };
  const nothing = () => {};
  // Called for option --config alone.
  const preset = () => Promise.resolve(trainSettings.parse({}));
  const work = { progress: silentProgress, note: nothing, onTruncatedLog: nothing, preset };
  const opened = openAskLink(resolve(links, { name }, flags), flags, work);
  return Promise.resolve({
    predict: async (head: string, relation: string, k = 10) => {
      const { json } = await opened.ask([head, relation], { top: String(k) });
      return (json as { answers: Answer[] }).answers;
    },
    close: () => opened.close(),
  });
}
