import { BadRequest, ExactNumber } from '@strongroom/engine-sdk';
import { compileTemplate, TemplateRenderError, TemplateSyntaxError, type TemplateEnvironment } from '@strongroom/go-template';
import type { JsonObject } from '../json/json-pointer.ts';

/** A claim's values make no long policy names. */
const LIMITS = { builtinsOnly: true, maxOutput: 1_024, name: 'token_policies' };

/** @throws BadRequest for templates that do not compile */
export function checkPolicyTemplates(templates: readonly string[]): void {
  for (const template of templates) {
    try {
      compileTemplate(template, LIMITS);
    } catch (error) {
      if (error instanceof TemplateSyntaxError || error instanceof TemplateRenderError) {
        throw new BadRequest(`token_policies: ${JSON.stringify(template)} is not a template: ${error.message}`);
      }
      throw error;
    }
  }
}

/** The policies that templates give for the claims of a token; empty ones do not count. @throws BadRequest for a claim that is missing */
export function renderPolicies(templates: readonly string[], claims: JsonObject, environment: TemplateEnvironment): string[] {
  const data = templateData(claims) as JsonObject;
  const policies = templates.map((template) => {
    try {
      return compileTemplate(template, LIMITS).render(data, environment).trim();
    } catch (error) {
      if (error instanceof TemplateRenderError) throw new BadRequest(`token_policies: ${error.message}`);
      throw error;
    }
  });
  return policies.filter((policy) => policy !== '');
}

/** Numbers keep their digits. */
function templateData(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return value.map(templateData);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, templateData(inner)]));
}
