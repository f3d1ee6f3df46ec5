/** One request, through redirects, to a response whose bytes can be taken. */
import { WorkbenchError } from '../errors.js';
import { redirectAddress } from './address.js';
import { PassingTrouble } from './passing-trouble.js';

/** A response, and what the host said of its content on the way. */
export interface OpenedResponse {
  /** Status 200 (from the start), 206 (a part) or 416 (no such part). */
  response: Response;
  /** What the host that was asked says of the file before it sends us elsewhere, as Hugging Face does for large files. */
  told: { sha256?: string; bytes?: number };
}

const mostRedirects = 10;

/**
 * @param headers of every hop; they hold nothing secret
 * @throws PassingTrouble for what may go better later; WorkbenchError `failure` for an answer that says no
 */
export async function openResponse(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<OpenedResponse> {
  const told: OpenedResponse['told'] = {};
  let at = url;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    const response = await fetch(at, { headers, signal, redirect: 'manual' });
    if (at.host === url.host) listen(response.headers, told);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) {
      if ([200, 206, 416].includes(response.status)) return { response, told };
      await response.body?.cancel();
      throw refusal(response, at);
    }
    await response.body?.cancel();
    at = redirectAddress(at, location);
  }
  throw new WorkbenchError(
    'failure',
    `expected a file, got more than ${mostRedirects} redirects, at ${url.origin}${url.pathname}`,
  );
}

function listen(headers: Headers, told: OpenedResponse['told']): void {
  const sha256 = /^"?([0-9a-f]{64})"?$/.exec(headers.get('x-linked-etag') ?? '')?.[1];
  const bytes = Number(headers.get('x-linked-size') ?? NaN);
  if (sha256 !== undefined) told.sha256 = sha256;
  if (Number.isSafeInteger(bytes)) told.bytes = bytes;
}

function refusal(response: Response, at: URL): Error {
  const { status, headers } = response;
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after') ?? NaN);
    return new PassingTrouble(`status ${status}`, Number.isFinite(seconds) ? seconds * 1000 : undefined);
  }
  const hints: Record<number, string> = {
    401: 'The host wants a login: get the file with a browser, and name it by its path.',
    403: 'The host refuses; some files want their licence accepted there first. Get them with a browser, and name them by path.',
    404: 'It is not there, or no longer: look at the page of the repository.',
  };
  const hint = hints[status];
  return new WorkbenchError('failure', `expected a file, got status ${status}, at ${at.origin}${at.pathname}`, {
    ...(hint !== undefined && { hint }),
  });
}
