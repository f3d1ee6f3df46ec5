/** A few texts through the lanes of a model. */
import type { Token } from 'node-llama-cpp';
import type { EncoderLane } from './llama-lanes.js';
import { evenPieces, prefixOrder } from './prefix-order.js';

/** Texts to encode, and who is told. */
export interface Turn {
  /** Of each text, without special ones. */
  tokens: readonly (readonly Token[])[];
  /** Whether lanes keep what texts begin with: then these follow each other in the order of their beginnings. */
  reuse: boolean;
  /** @param place of `tokens` */
  onVector(place: number, encoded: Awaited<ReturnType<EncoderLane['encode']>>): void;
  /** Asked after each text. */
  stopped(): boolean;
}

/**
 * Encodes until all is done, somebody stops it or a lane fails; in the last case the others finish their text.
 * @throws what a lane or `onVector` throws
 */
export async function encodeTurn(lanes: readonly EncoderLane[], turn: Turn): Promise<void> {
  const { tokens, reuse, onVector, stopped } = turn;
  // One queue that all take from, or with reuse a piece of the order for each.
  const shared = tokens.keys();
  const queues = reuse ? evenPieces(prefixOrder(tokens), tokens, lanes.length) : undefined;
  let failed = false;
  const ends = await Promise.allSettled(
    lanes.map(async (lane, i) => {
      try {
        for (const place of queues?.[i] ?? shared) {
          onVector(place, await lane.encode(tokens[place]!));
          if (failed || stopped()) break;
        }
      } catch (error) {
        failed = true;
        throw error;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
