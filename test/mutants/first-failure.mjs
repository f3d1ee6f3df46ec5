/** Jest's environment of Node, in which the first test that fails is the last one that runs: one is enough for a mutant. */
import { TestEnvironment } from 'jest-environment-node';

export default class FirstFailure extends TestEnvironment {
  #failed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure') this.#failed = true;
    if (name === 'test_start' && this.#failed) test.mode = 'skip';
  }
}
