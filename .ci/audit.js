/**
 * `npm run audit`: what the registry knows against the packages that users of kgwalk get. Fails for weaknesses it names;
 * a registry that offers no audit is told and no failure, as nothing is known then. No part of CI: it asks the network.
 */
import { spawnSync } from 'node:child_process';
import { env, execPath, exit } from 'node:process';

const { stdout } = spawnSync(execPath, [env.npm_execpath, 'audit', '--omit=dev', '--json'], { encoding: 'utf8' });
const { message, metadata, vulnerabilities } = JSON.parse(stdout);
if (metadata === undefined) {
  // The message goes on with the address.
  console.log(`not audited: the registry offers no audit (${String(message).split(' - ')[0]}); nothing is known for or against these packages`); // prettier-ignore
  exit(0);
}
for (const { name, severity, range, via } of Object.values(vulnerabilities)) {
  const why = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : `${cause.title}, ${cause.url}`));
  console.log(`${severity}: ${name} ${range}: ${why.join('; ')}`);
}
const { total } = metadata.vulnerabilities;
console.log(`${total} weaknesses known in ${metadata.dependencies.prod} packages`);
exit(total === 0 ? 0 : 1);
