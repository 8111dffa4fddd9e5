// The messages of OTLP's trace service as facts: names, numbers and types of the fields, for a reader of protobuf JSON
// that refuses everything else. Enumerations stand as int32, since OTLP takes their numbers only.
import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import {
  DescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  OneofDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import type { DescriptorProto } from '@bufbuild/protobuf/wkt';

const PACKAGE = 'otlp';

const SCALARS: Readonly<Record<string, Type>> = {
  bool: Type.BOOL,
  bytes: Type.BYTES,
  double: Type.DOUBLE,
  fixed32: Type.FIXED32,
  fixed64: Type.FIXED64,
  int32: Type.INT32,
  int64: Type.INT64,
  string: Type.STRING,
  uint32: Type.UINT32,
};

/** `number type name`; `*` after the type: a list; `|` after it: one of several. */
const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  ExportTraceServiceRequest: ['1 ResourceSpans* resource_spans'],
  ResourceSpans: ['1 Resource resource', '2 ScopeSpans* scope_spans', '3 string schema_url'],
  Resource: ['1 KeyValue* attributes', '2 uint32 dropped_attributes_count'],
  ScopeSpans: ['1 InstrumentationScope scope', '2 Span* spans', '3 string schema_url'],
  InstrumentationScope: [
    '1 string name',
    '2 string version',
    '3 KeyValue* attributes',
    '4 uint32 dropped_attributes_count',
  ],
  Span: [
    '1 bytes trace_id',
    '2 bytes span_id',
    '3 string trace_state',
    '4 bytes parent_span_id',
    '16 fixed32 flags',
    '5 string name',
    '6 int32 kind',
    '7 fixed64 start_time_unix_nano',
    '8 fixed64 end_time_unix_nano',
    '9 KeyValue* attributes',
    '10 uint32 dropped_attributes_count',
    '11 Event* events',
    '12 uint32 dropped_events_count',
    '13 Link* links',
    '14 uint32 dropped_links_count',
    '15 Status status',
  ],
  Event: [
    '1 fixed64 time_unix_nano',
    '2 string name',
    '3 KeyValue* attributes',
    '4 uint32 dropped_attributes_count',
  ],
  Link: [
    '1 bytes trace_id',
    '2 bytes span_id',
    '3 string trace_state',
    '4 KeyValue* attributes',
    '5 uint32 dropped_attributes_count',
    '6 fixed32 flags',
  ],
  Status: ['2 string message', '3 int32 code'],
  KeyValue: ['1 string key', '2 AnyValue value'],
  AnyValue: [
    '1 string| string_value',
    '2 bool| bool_value',
    '3 int64| int_value',
    '4 double| double_value',
    '5 ArrayValue| array_value',
    '6 KeyValueList| kvlist_value',
    '7 bytes| bytes_value',
  ],
  ArrayValue: ['1 AnyValue* values'],
  KeyValueList: ['1 KeyValue* values'],
};

const FIELD = /^(\d+) (\w+)([*|]?) (\w+)$/;

function descriptorOf(name: string, fields: readonly string[]): DescriptorProto {
  const isChoice = fields.some((field) => field.includes('|'));
  return create(DescriptorProtoSchema, {
    name,
    field: fields.map((field) => {
      const [, number, type, mark, fieldName] = FIELD.exec(field)!;
      return create(FieldDescriptorProtoSchema, {
        name: fieldName!,
        jsonName: fieldName!.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
        number: Number(number),
        label: mark === '*' ? Label.REPEATED : Label.OPTIONAL,
        ...(SCALARS[type!] === undefined
          ? { type: Type.MESSAGE, typeName: `.${PACKAGE}.${type}` }
          : { type: SCALARS[type!]! }),
        ...(mark === '|' ? { oneofIndex: 0 } : {}),
      });
    }),
    oneofDecl: isChoice ? [create(OneofDescriptorProtoSchema, { name: 'value' })] : [],
  });
}

const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      create(FileDescriptorProtoSchema, {
        name: 'otlp.proto',
        package: PACKAGE,
        syntax: 'proto3',
        messageType: Object.entries(MESSAGES).map(([name, fields]) => descriptorOf(name, fields)),
      }),
    ],
  }),
);

export const TRACE_REQUEST: DescMessage = registry.getMessage(`${PACKAGE}.ExportTraceServiceRequest`)!;
