import { describe, expect, test } from '@jest/globals';
import { isLoopback, isOwnName, isToken, newToken } from '../../serve/app.js';

describe('who may read', () => {
  test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.0.1', '::1', '[::1]'])('%s is this machine', (host) =>
    expect(isLoopback(host)).toBe(true),
  );

  test.each(['0.0.0.0', '::', '192.168.0.4', '127.0.0.1.example.org', 'localhost.example.org', ''])(
    '%j may be reached from elsewhere',
    (host) => expect(isLoopback(host)).toBe(false),
  );

  test.each(['localhost:8080', '127.0.0.1:8080', '127.0.0.1', '[::1]:8080'])('answers to %s', (header) =>
    expect(isOwnName(header, '127.0.0.1')).toBe(true),
  );

  test.each([
    'example.org:8080',
    'example.org',
    '127.0.0.1.example.org:8080',
    '127.0.0.1:8080@example.org',
    ':8080',
    undefined,
  ])('refuses requests with host %s', (header) => expect(isOwnName(header, '127.0.0.1')).toBe(false));

  test('beyond loopback any name will do, for the token guards', () => {
    expect(isOwnName('box.lan:8080', '0.0.0.0')).toBe(true);
  });

  test('no two tokens are equal, and only the token is the token', () => {
    const token = newToken();
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(newToken()).not.toBe(token);
    expect(isToken(token, token)).toBe(true);
    for (const other of [undefined, '', token.slice(1), `${token}x`, newToken()])
      expect(isToken(other, token)).toBe(false);
  });
});
