/** Shows a page where somebody sits at a desktop. */
import { spawn } from 'node:child_process';
import { env, platform, stdout } from 'node:process';

/** How a desktop opens a file; undefined where there is none to show it to: in a log, on a server, in a build. */
export function openerOf(
  isTerminal = stdout.isTTY,
  system: NodeJS.Platform = platform,
  variables: NodeJS.ProcessEnv = env,
): readonly [command: string, ...args: string[]] | undefined {
  if (!isTerminal || variables.CI) return undefined;
  if (system === 'darwin') return ['open'];
  if (system === 'win32') return ['cmd', '/c', 'start', ''];
  return variables.DISPLAY || variables.WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}

/** Asks the desktop to show a page, and does not wait. @returns whether somebody was there to be asked */
export async function openPage(page: string): Promise<boolean> {
  const opener = openerOf();
  if (!opener) return false;
  const [command, ...args] = opener;
  return new Promise((resolve) => {
    const child = spawn(command, [...args, page], { detached: true, stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
