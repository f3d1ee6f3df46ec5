/** Packages that only work on several machines needs: whoever uses them installs them. */
import { WorkbenchError } from '../src/run/errors.js';

/**
 * @param what needs them, with its article
 * @throws WorkbenchError `usage` with the command that installs them, where one is missing
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
