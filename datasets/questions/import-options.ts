/** What every importer of questions is given. */
import type { ProgressReporter } from '../../src/run/progress.js';

export interface QuestionImportOptions {
  /** Folder of the release. */
  from: string;
  /** Name to import under. Default: the format. An existing data set of that name is replaced when all went well. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}
