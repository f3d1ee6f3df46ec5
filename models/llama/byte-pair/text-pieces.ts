/** Where a text is cut before pairs are merged: no token reaches over such a cut. */

// Unicode's own white space, as llama.cpp has it: `\s` of JavaScript takes U+FEFF and leaves out U+0085.
const piece =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/**
 * The pieces of a text in order; joined they are the text. Words and numbers take the one space before them.
 * @source GPT-2, `encoder.py`; llama.cpp's pre-tokenizer `gpt-2`
 */
export function textPieces(text: string): string[] {
  return text.match(piece) ?? [];
}
