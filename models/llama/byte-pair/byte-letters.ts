/** Bytes as printable letters, so that a vocabulary of byte strings can be written as text. @source GPT-2, `bytes_to_unicode` */

/** Letter of each byte, 256 of them. Printable ASCII and Latin-1 stand for themselves; a space is `Ġ`, a line end `Ċ`. */
export const byteLetters: readonly string[] = letters();

const byteOf = new Map(byteLetters.map((letter, byte) => [letter, byte]));
const encoder = new TextEncoder();

/** The UTF-8 bytes of a text as letters; a lone surrogate becomes U+FFFD. */
export function toByteLetters(text: string): string {
  return Array.from(encoder.encode(text), (byte) => byteLetters[byte]).join('');
}

/** The bytes that letters stand for; letters that stand for none are left out. */
export function fromByteLetters(letters: string): Uint8Array {
  return Uint8Array.from(Array.from(letters, (letter) => byteOf.get(letter)).filter((byte) => byte !== undefined));
}

function letters(): string[] {
  let spare = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const plain = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(plain ? byte : spare++);
  });
}
