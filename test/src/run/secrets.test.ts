import { describe, expect, test } from '@jest/globals';
import { masked, serverKey, withoutKey } from '../../../src/run/secrets.js';

const key = 'sk-planted/+0123456789';

test.each([
  ['https://ada:se@cret@host/x', 'https://***@host/x'],
  ['https://ada:se/cret@host/x', 'https://***@host/x'],
  ['at https://host/f.gguf?download=true&token=abc', 'at https://host/f.gguf?download=true&token=***'],
  ['https://host/?X-Amz-Signature=ab&X-Amz-Date=9', 'https://host/?X-Amz-Signature=***&X-Amz-Date=9'],
  ["unknown option '--api-key=abc'", "unknown option '--api-key=***'"],
  ['llm.apiKey=abc', 'llm.apiKey=***'],
])('what a text says for a secret is hidden: %s', (text, clean) => {
  expect(masked(text, {})).toBe(clean);
});

test.each([
  '--set encoder.lastMessageTokens=12',
  'expected KEY=VALUE, got 1',
  'http://127.0.0.1:8080/v1#m',
  'a@b.example',
  'https://host:8080/a@b',
])('what is no secret stays: %s', (text) => expect(masked(text, {})).toBe(text));

test('a long text without secrets takes no long time', () => {
  for (const piece of ['a', '.', '://', '://a:b', '&key', 'x.key'])
    expect(masked(piece.repeat(2e5), {})).toHaveLength(piece.length * 2e5);
});

describe('the key of a server', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const forms = [
    ...[key, encodeURIComponent(key), encodeURIComponent(key).replaceAll('%2B', '%2b').replaceAll('%2F', '%2f')],
    ...[base64(key), encodeURIComponent(base64(key)).replaceAll('%3D', ''), Buffer.from(key).toString('base64url')],
    ...[Buffer.from(key).toString('hex'), Buffer.from(key).toString('hex').toUpperCase()],
  ];

  test.each(forms)('is hidden as %s', (form) => {
    for (const name of ['KGWALK_LLM_KEY', 'OPENAI_API_KEY'])
      expect(masked(`got ${form}.`, { [name]: `${key}\n` })).toMatch(/^got \*\*\*=*\.$/);
  });

  test.each(['Bearer ', 'a:', 'b', 'key='])('is hidden in base64 with %j before it', (before) => {
    for (const form of ['base64', 'base64url'] as const) {
      const shown = masked(`got ${Buffer.from(`${before}${key}:x`).toString(form)}.`, { KGWALK_LLM_KEY: key });
      const left = shown.replace(/^got |\.$/g, '').split('***');
      expect(left).toHaveLength(2);
      // Of the text around the key, at most the characters that share bits with it.
      expect(left[0]!.length).toBeLessThanOrEqual(Math.ceil((before.length * 4) / 3));
      expect(left[1]!.length).toBeLessThanOrEqual(6);
    }
  });

  test('is hidden as JSON writes it', () => {
    const quoted = 'sk-"planted"-0123';
    expect(masked(JSON.stringify({ said: quoted }), { OPENAI_API_KEY: quoted })).toBe('{"said":"***"}');
  });

  test('that is a mere placeholder takes no words away', () => {
    expect(withoutKey('none of them', 'none')).toBe('none of them');
  });

  test('is read without space around it, the own variable first', () => {
    expect(serverKey({ KGWALK_LLM_KEY: `${key}\n`, OPENAI_API_KEY: 'other' })).toBe(key);
    expect(serverKey({ KGWALK_LLM_KEY: ' ', OPENAI_API_KEY: 'other' })).toBe('other');
    expect(serverKey({})).toBeUndefined();
  });

  test('that no request can carry is refused without being repeated', () => {
    for (const broken of ['sk-planted\n0123456789', 'sk-plant…ed'])
      expect(() => serverKey({ OPENAI_API_KEY: broken })).toThrow(
        'expected a key of printable ASCII characters, got others, at OPENAI_API_KEY',
      );
  });
});
