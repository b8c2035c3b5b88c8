import { randomBytes } from 'node:crypto';
import { compileTemplate } from '@strongroom/go-template';

/** A user name as hosts make it. */
export function renderUsername(template: string, data: { readonly DisplayName: string; readonly RoleName: string }): string {
  return compileTemplate(template, { fields: ['DisplayName', 'RoleName'] }).render(data, { now: () => new Date(), randomBytes });
}
