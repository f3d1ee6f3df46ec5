/** Which failures of one task end an evaluation, and which cost that task alone. */
import { WorkbenchError } from '../src/run/errors.js';

/** So many tasks in a row that end by a failure outside the agent, such as a server that is away: the evaluation ends. */
export const failuresInARow = 8;

/** Settings, a missing native part, the user, whatever is `fatal`: whether this would end every other task alike. */
export function concernsAllTasks(error: unknown): error is WorkbenchError {
  return (
    error instanceof WorkbenchError && (error.fatal || ['usage', 'config', 'native', 'stopped'].includes(error.code))
  );
}
