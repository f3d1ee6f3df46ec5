/** `fetch` whose bodies end: a server that never stops writing cannot fill the memory. */
import { WorkbenchError } from '../../run/errors.js';

/** Bytes; a reply of a model has some thousand. */
const longestReply = 16 * 2 ** 20;

/** As `fetch`; reading a longer body fails. @throws WorkbenchError `config`, from the body */
export async function boundedFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.body === null) return response;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= longestReply) controller.enqueue(chunk);
      else controller.error(tooLong(response.url));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

function tooLong(url: string): WorkbenchError {
  return new WorkbenchError(
    'config',
    `expected a reply of at most ${longestReply} bytes, got a longer one, at ${url}`,
    {
      hint: 'This is no language-model server, or it does not keep to the length it is asked for.',
    },
  );
}
