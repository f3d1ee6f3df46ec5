import { expect, test } from '@jest/globals';
import { openerOf } from '../../../cli/quickstart/shown.js';

test.each([
  ['linux', { DISPLAY: ':0' }, ['xdg-open']],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open']],
  ['linux', {}, undefined],
  ['darwin', {}, ['open']],
  ['win32', {}, ['cmd', '/c', 'start', '']],
] as const)('a terminal on %s with %j shows a page by %j', (system, variables, opener) => {
  expect(openerOf(true, system, variables)).toEqual(opener);
});

test('nothing is opened from a log, or from a build', () => {
  expect(openerOf(false, 'darwin', {})).toBeUndefined();
  expect(openerOf(true, 'darwin', { CI: 'true' })).toBeUndefined();
});
