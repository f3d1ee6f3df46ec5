/** The one place that listens: the app on a port of one address. */
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { WorkbenchError } from '../src/run/errors.js';
import { isLoopback, newToken } from './access.js';
import { createApp } from './app.js';
import { openWorld } from './world.js';

/** Where to listen, and what to show. */
export interface ServeOptions {
  /** Folders of runs, or folders that hold some. */
  roots: readonly string[];
  /** Default 127.0.0.1: this machine alone. Any other asks for a token. */
  host?: string;
  /** 0: any that is free. */
  port: number;
  /** How often files are looked at, in milliseconds. Default 500. */
  lookMs?: number;
  /** How long the headers of a request may take to come, and a third of what all of it may take, in milliseconds. Default 10,000. */
  patienceMs?: number;
  /** Told of errors that are bugs. Default: nobody. */
  onBug?: (error: unknown) => void;
}

/** Connections at once; a browser has six and its streams. What comes beyond them is closed at once. */
export const mostConnections = 256;

/** A server that listens; close it after use. */
export interface Serving {
  /** For a browser; beyond loopback it holds the token. */
  url: string;
  port: number;
  token: string | undefined;
  /** How many browsers follow something. */
  readonly streams: number;
  /** Ends at once, whoever is connected. */
  close(): Promise<void>;
}

/**
 * Listens.
 * @throws WorkbenchError `usage` for a port that is taken or may not be used, or an address that is not this machine's
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { roots, host = '127.0.0.1', port, lookMs = 500, patienceMs = 10_000, onBug = () => {} } = options;
  const token = isLoopback(host) ? undefined : newToken();
  const ending = new AbortController();
  const world = openWorld(roots, lookMs);
  const pace = { lookMs, aliveMs: 15_000 };
  const app = createApp({ world, host, token, pace, signal: ending.signal, onBug });
  const serverOptions = {
    headersTimeout: patienceMs,
    requestTimeout: 3 * patienceMs,
    connectionsCheckingInterval: patienceMs / 4,
  };
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions }) as Server;
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ port, host }, resolve);
  });
  const taken = (server.address() as { port: number }).port;
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${taken}/`;
  return {
    url: token === undefined ? base : `${base}?token=${token}`,
    port: taken,
    token,
    get streams() {
      return app.streams;
    },
    close() {
      ending.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return Promise.all([closed, app.close()]).then(() => undefined);
    },
  };
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): unknown {
  const refused = (expected: string, got: string, hint: string) =>
    new WorkbenchError('usage', `expected ${expected}, got ${got}`, { hint, cause: error });
  if (error.code === 'EADDRINUSE') {
    return refused(
      'a free port',
      `${port}, which another program listens on`,
      `Is it a page of before? Open http://${host}:${port}/, or choose another: --port ${port < 65_535 ? port + 1 : 8765}, or --port 0 for any.`,
    );
  }
  if (error.code === 'EACCES') {
    return refused(
      'a port that you may use',
      String(port),
      'Ports below 1024 are the system’s: choose a higher --port.',
    );
  }
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(error.code ?? '')) {
    return refused(
      'an address of this machine',
      host,
      '--host 127.0.0.1 is this machine alone, 0.0.0.0 every address of it.',
    );
  }
  return error;
}
