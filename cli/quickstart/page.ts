/** The page about everything the quickstart did, and showing it. */
import { spawn } from 'node:child_process';
import { env, platform, stdout } from 'node:process';

/** How a desktop opens a file; absent where there is none to show it to: a log, a server, a build. */
export function openerOf(): { command: string; args: readonly string[] } | undefined {
  if (!stdout.isTTY || env.CI) return undefined;
  if (platform === 'darwin') return { command: 'open', args: [] };
  if (platform === 'win32') return { command: 'cmd', args: ['/c', 'start', ''] };
  return env.DISPLAY || env.WAYLAND_DISPLAY ? { command: 'xdg-open', args: [] } : undefined;
}

/** Asks the desktop to show a page, and does not wait. @returns whether somebody was there to be asked */
export async function openPage(page: string): Promise<boolean> {
  const opener = openerOf();
  if (!opener) return false;
  return new Promise((resolve) => {
    const child = spawn(opener.command, [...opener.args, page], { detached: true, stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
