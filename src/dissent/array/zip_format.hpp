// Numbers of the ZIP format (PKWARE APPNOTE 6.3) that its reader and its writer share.
#pragma once

#include <cstdint>

namespace dissent::zip_format {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kDescriptorSignature = 0x08074b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;

inline constexpr std::uint16_t kFlagEncrypted = 1 << 0;
inline constexpr std::uint16_t kFlagDescriptor = 1 << 3;  // sizes and checksum follow the data
inline constexpr std::uint16_t kFlagUtf8 = 1 << 11;
inline constexpr std::uint16_t kFlagMasked = 1 << 13;  // encrypted directory

inline constexpr std::uint16_t kMethodStored = 0;
inline constexpr std::uint16_t kMethodDeflated = 8;

inline constexpr std::uint16_t kExtraZip64 = 0x0001;
inline constexpr std::uint16_t kExtraAlignment = 0xD935;  // padding, as Android's zipalign marks it

inline constexpr std::uint16_t kFull16 = 0xFFFF;      // "see the zip64 record"
inline constexpr std::uint32_t kFull32 = 0xFFFFFFFF;  // "see the zip64 field"

inline constexpr std::uint16_t kVersionZip64 = 45;

}  // namespace dissent::zip_format
