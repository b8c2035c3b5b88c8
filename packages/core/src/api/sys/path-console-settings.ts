import { path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { consoleDefaults, type ConsoleSettings } from '../../services/settings/console-settings.ts';

const Settings = Type.Object({
  banner: Type.String(),
  idle_minutes: Type.Integer(),
  show_seconds: Type.Integer(),
  default_method: Type.String(),
  session: Type.Union([Type.Literal('tab'), Type.Literal('memory')]),
});

/** `sys/internal/ui/config`: the console asks for it before anybody has logged in, and of a sealed server too. */
export function consoleSettingsPaths(settings: Partial<ConsoleSettings> = {}): AnyPath[] {
  const { banner, idleMinutes, showSeconds, defaultMethod, session } = { ...consoleDefaults, ...settings };
  return [
    path('internal/ui/config', {
      synopsis: 'The settings of the console.',
      description: 'From the stanza console of the configuration. Open to everybody.',
      access: 'unauthenticated',
      fields: {},
    }).read({
      summary: 'Shows the settings of the console.',
      response: Settings,
      handle: async () => ({
        data: { banner, idle_minutes: idleMinutes, show_seconds: showSeconds, default_method: defaultMethod, session },
      }),
    }),
  ];
}
