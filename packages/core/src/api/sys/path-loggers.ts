import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { reply } from '../../services/caller/internal-request.ts';
import { logLevel, logLevels, type LogLevel, type LogLevelStore } from '../../services/settings/log-levels.ts';

const Levels = Type.Record(Type.String(), Type.String(), { description: 'By logger.' });

/** `sys/loggers`. */
export function loggerPaths({ levels }: { readonly levels: LogLevelStore }): AnyPath[] {
  const level = f.string(`How much is logged: ${logLevels.join(', ')}.`, { default: '' });
  const requireLogger = (name: string): string => {
    if (!levels.list().has(name)) throw new BadRequest(`logger ${JSON.stringify(name)} not found`);
    return name;
  };

  return [
    path('loggers', {
      synopsis: 'What the server logs.',
      description: 'The level of every logger. A change holds until the server stops.',
      fields: { level },
    })
      .read({
        summary: 'Read the level of every logger',
        response: Levels,
        handle: async () => ({ data: Object.fromEntries(levels.list()) }),
      })
      .update({
        summary: 'Set the level of every logger',
        response: NoContent,
        handle: async ({ data }) => {
          await levels.set(requireLevel(data.level));
          return undefined;
        },
      })
      .delete({
        summary: 'Set every logger back to the configured level',
        response: NoContent,
        handle: async () => {
          await levels.reset();
          return undefined;
        },
      }),

    path('loggers/{name:any}', {
      synopsis: 'What one logger logs.',
      description: 'Its level. A change holds until the server stops.',
      fields: { name: f.name('Name of the logger.'), level },
    })
      .read({
        summary: 'Read the level of a logger',
        response: Levels,
        handle: async ({ data }) => {
          const found = levels.list().get(data.name);
          return reply({ data: found === undefined ? {} : { [data.name]: found }, warnings: [] });
        },
      })
      .update({
        summary: 'Set the level of a logger',
        response: NoContent,
        handle: async ({ data }) => {
          await levels.set(requireLevel(data.level), requireLogger(data.name));
          return undefined;
        },
      })
      .delete({
        summary: 'Set a logger back to the configured level',
        response: NoContent,
        handle: async ({ data }) => {
          await levels.reset(requireLogger(data.name));
          return undefined;
        },
      }),
  ];
}

function requireLevel(text: string): LogLevel {
  if (text === '') throw new BadRequest('level is required');
  const level = logLevel(text);
  if (!level) throw new BadRequest(`invalid level provided: unknown log level: ${text}`);
  return level;
}
