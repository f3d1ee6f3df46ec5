/** Optional packages for work on several machines, installed by the user. */
import { WorkbenchError } from '../src/run/errors.js';

/**
 * @param what feature that needs them, with its article
 * @throws WorkbenchError `usage` with the command that installs them, if one is missing
 */
export async function withPackage<T>(what: string, names: readonly string[], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new WorkbenchError('usage', `expected the packages that ${what} needs, got none`, {
      hint: `Run npm install ${names.join(' ')}.`,
      cause: error,
    });
  }
}
