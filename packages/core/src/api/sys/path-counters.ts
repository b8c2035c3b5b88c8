import { type AnyPath, NoContent, NotFound, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { KeyCount } from '../../services/figures/key-count.ts';

const Total = Type.Object({ total: Type.Integer() });

/** `sys/internal/counters`. */
export function counterPaths({ tokens, entities }: { readonly tokens: KeyCount; readonly entities: KeyCount }): AnyPath[] {
  return [
    path('internal/counters/tokens', {
      synopsis: 'How many service tokens there are.',
      description: 'Where there are very many, the number may be some minutes old.',
      fields: {},
    }).read({
      summary: 'Count tokens',
      response: Type.Object({ counters: Type.Object({ service_tokens: Total }) }),
      handle: async () => ({ data: { counters: { service_tokens: { total: await tokens.current() } } } }),
    }),
    path('internal/counters/entities', {
      synopsis: 'How many entities there are.',
      description: 'Where there are very many, the number may be some minutes old.',
      fields: {},
    }).read({
      summary: 'Count entities',
      response: Type.Object({ counters: Type.Object({ entities: Total }) }),
      handle: async () => ({ data: { counters: { entities: { total: await entities.current() } } } }),
    }),
    path('internal/counters/requests', {
      synopsis: 'Accepted: requests are among the metrics.',
      description: 'Answers 404.',
      fields: {},
    }).read({
      summary: 'Answers that requests are not counted here',
      response: NoContent,
      handle: async () => {
        throw new NotFound('The functionality has been removed on this path');
      },
    }),
  ];
}
