// The commands of coding agents (docs/agents.md).
import { urlOf } from '../../base-path';
import type { CodeSample } from '../../components/data/code-samples';
import { baseUrl } from '../../components/data/samples';

interface AgentSample {
  readonly key: string;
  readonly model: string;
}

export function agentSamples({ key, model }: AgentSample): readonly CodeSample[] {
  const origin = `${location.origin}${urlOf('/')}`.replace(/\/$/, '');
  return [
    {
      language: 'Claude Code',
      code: `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=${key}
claude --model ${model}`,
    },
    {
      language: 'Codex',
      code: `# ~/.codex/config.toml
model = "${model}"
model_provider = "signalbox"

[model_providers.signalbox]
name = "signalbox"
base_url = "${baseUrl()}"
env_key = "SIGNALBOX_API_KEY"
wire_api = "responses"

# Then, in the shell:
# export SIGNALBOX_API_KEY=${key}
# codex`,
    },
    {
      language: 'OpenCode',
      code: `{
  "$schema": "https://opencode.ai/config.json",
  "provider": {
    "signalbox": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "${baseUrl()}", "apiKey": "{env:SIGNALBOX_API_KEY}" },
      "models": { "${model}": {} }
    }
  }
}`,
    },
    {
      language: 'Cline',
      code: `cline auth -p openai -k ${key} -m ${model} -b ${baseUrl()}
cline -P openai -m ${model}`,
    },
  ];
}
