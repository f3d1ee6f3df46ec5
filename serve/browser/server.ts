/** Requests to the server and their errors. */

/** An error reply with its hint. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly hint: string | undefined,
  ) {
    super(message);
  }
}

async function read<T>(answer: Response): Promise<T> {
  const body = (await answer.json().catch(() => ({}))) as { error?: { message: string; hint?: string } };
  if (answer.ok) return body as T;
  throw new Refused(body.error?.message ?? `the server answered ${answer.status}`, body.error?.hint);
}

/** Fetches JSON. @param query arrays become repeated parameters */
export async function get<T>(
  path: string,
  query: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<T> {
  return read<T>(await fetch(addressOf(path, query)));
}

/** Sends JSON. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return read<T>(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

/** A path with its query. */
export function addressOf(path: string, query: Readonly<Record<string, string | readonly string[]>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
