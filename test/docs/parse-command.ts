/** Parses a command line with the real program, without running it. */
import { Command } from 'commander';
import { commands } from '../../cli/commands.js';
import { openPreset } from '../../presets/index.js';

/** @returns its options @throws the error of commander for a command, argument or option that does not exist, `WorkbenchError` for a preset or setting */
export async function parseCommand(words: readonly string[]): Promise<Record<string, unknown>> {
  const program = new Command('kgwalk').exitOverride().configureOutput({ writeErr: () => {} });
  for (const register of commands) register(program);
  const check = async (args: string[], flags: Record<string, unknown>, { name }: { name: () => string }) => {
    if (!['train', 'pretrain', 'show'].includes(name()) || flags.resume !== undefined || !flags.set) return;
    await openPreset(args[0] ?? 'opendialkg', ['encoder.model="hashed:32"', ...(flags.set as string[])]);
  };
  let options: Record<string, unknown> = {};
  for (const command of leaves(program)) {
    command.action(async () => {
      options = command.opts();
      await check(command.args, options, { name: () => command.name() });
    });
  }
  await program.parseAsync([...words], { from: 'user' });
  return options;
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}
