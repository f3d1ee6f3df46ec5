/** N-Triples, one statement a line. @source https://www.w3.org/TR/n-triples/ */

/** What stands in a statement. */
export type Term =
  | { kind: 'iri'; value: string }
  | { kind: 'blank'; value: string }
  /** `language` in lower case, `''` for none; the data type is not kept. */
  | { kind: 'literal'; value: string; language: string };

/** One triple as it was written. */
export type Statement = readonly [subject: Term, predicate: Term, object: Term];

const iri = String.raw`<((?:[^\x00-\x20<>"{}|^${'`'}\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)>`;
const blank = String.raw`_:([\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_.·-]*[\p{L}\p{N}\p{M}_·-])?)`;
const literal = String.raw`"((?:[^"\\\r\n]|\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^${iri})?`;
const space = String.raw`[ \t]*`;
const statement = new RegExp(
  `^${space}(?:${iri}|${blank})${space}${iri}${space}(?:${iri}|${blank}|${literal})${space}\\.${space}(?:#.*)?$`,
  'u',
);
const nothing = /^[ \t]*(?:#.*)?$/;

/**
 * Parses one line. @returns the statement, `undefined` for an empty line or a comment, or what was expected where it is broken
 */
export function parseStatement(line: string): Statement | undefined | string {
  if (nothing.test(line)) return undefined;
  const match = statement.exec(line);
  if (!match) return 'expected <subject> <predicate> <object> or "literal", then a dot';
  const [, subject, subjectBlank, predicate, object, objectBlank, text, language] = match;
  try {
    return [
      subject === undefined ? { kind: 'blank', value: subjectBlank! } : { kind: 'iri', value: unescaped(subject) },
      { kind: 'iri', value: unescaped(predicate!) },
      object !== undefined
        ? { kind: 'iri', value: unescaped(object) }
        : objectBlank !== undefined
          ? { kind: 'blank', value: objectBlank }
          : { kind: 'literal', value: unescaped(text!), language: language?.toLowerCase() ?? '' },
    ];
  } catch (error) {
    if (error instanceof RangeError) return 'expected escapes of Unicode characters, got one that is none';
    throw error;
  }
}

const characters: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };

/** @throws RangeError for an escape beyond U+10FFFF or of a surrogate */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gu,
    (_, short?: string, long?: string, one?: string) => {
      if (one !== undefined) return characters[one] ?? one;
      const code = parseInt((short ?? long)!, 16);
      if (code >= 0xd800 && code <= 0xdfff) throw new RangeError('half of a surrogate pair');
      return String.fromCodePoint(code);
    },
  );
}
