/** For commander: gathers the values of an option that may be given several times, in order. */
export function repeatable(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}
