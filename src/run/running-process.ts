/** Whether somebody is still there. */
import { kill } from 'node:process';

/** Whether a process of this machine has this number; also where it is somebody else's, who may not be asked. */
export function isRunning(id: number): boolean {
  try {
    return kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
