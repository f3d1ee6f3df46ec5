/** What an agent did, in words for people. */
import type { TraceEvent } from '../../agents/question-agent.js';
import type { Graph } from '../../src/kg/graph.js';

/** One event in words. */
export function eventText(event: TraceEvent, graph: Graph): string {
  const named = (entities: readonly number[]) => entities.map((entity) => graph.entityNames[entity] ?? '?').join('; ');
  const chain = (relations: readonly number[]) => relations.map((id) => graph.relationNames[id] ?? '?').join(' → ');
  switch (event.event) {
    case 'start':
      return `start at ${named(event.entities) || 'nothing'}`;
    case 'decision':
      return `${event.phase}: ${event.summary}`;
    case 'graph':
      return `graph: ${event.operation}, ${event.reads} read`;
    case 'branch-open':
    case 'branch-close':
      return `branch ${event.branch} ${event.event === 'branch-open' ? 'opens' : 'closes'}: ${event.detail}`;
    case 'memory-write':
      return `remembers ${event.key}: ${chain(event.chain)}`;
    case 'note':
      return event.text;
    case 'stop':
      return `stop: ${event.reason}`;
  }
}
