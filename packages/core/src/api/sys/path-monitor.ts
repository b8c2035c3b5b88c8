import { BadRequest, f, path, streamedAnswer, type AnyPath } from '@strongroom/engine-sdk';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { LogStreams } from '../../services/following/log-streams.ts';
import { logLevel } from '../../services/settings/log-levels.ts';

/** `sys/monitor`. */
export function monitorPaths({ logStreams }: { readonly logStreams: LogStreams }): AnyPath[] {
  return [
    path('monitor', {
      synopsis: 'The log of this server, as it is written.',
      description:
        'Lines of text until the caller goes or the token ends. A caller that takes them too slowly misses lines, and reads how many. Secrets are masked, as in the log.',
      fields: {
        log_level: f.string('The least level that is sent, whatever the log itself holds.', { default: 'info' }),
        log_format: f.string('`standard` or `json`.', { default: 'standard' }),
      },
    }).read({
      summary: 'Follows the log.',
      response: streamedAnswer(['text/plain; charset=utf-8', 'application/json']),
      handle: async (req) => {
        const level = logLevel(req.data.log_level);
        if (!level) throw new BadRequest('unknown log level');
        const format = req.data.log_format === '' ? 'standard' : req.data.log_format;
        if (format !== 'standard' && format !== 'json') throw new BadRequest('log_format must be "standard" or "json"');
        const { token = '' } = internalOf(req).request;
        return { stream: logStreams.open({ token, remoteAddress: req.caller.remoteAddress, path: 'sys/monitor', level, format }) };
      },
    }),
  ];
}
